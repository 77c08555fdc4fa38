// SPDX-License-Identifier: Apache-2.0
#include "plan/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <span>

namespace ingot::plan {
namespace {

constexpr size_t kMostErrors = 10;
constexpr size_t kMostBuffers = 1'000'000;

enum class Column { kId, kLower, kUpper, kSize, kAlignment, kFixed, kOffset, kHint, kGaps };

struct ColumnName {
  std::string_view name;
  Column column;
};
constexpr auto kColumns = std::to_array<ColumnName>({{"id", Column::kId},
                                                     {"buffer", Column::kId},
                                                     {"lower", Column::kLower},
                                                     {"upper", Column::kUpper},
                                                     {"size", Column::kSize},
                                                     {"alignment", Column::kAlignment},
                                                     {"fixed", Column::kFixed},
                                                     {"offset", Column::kOffset},
                                                     {"hint", Column::kHint},
                                                     {"gaps", Column::kGaps}});

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::vector<std::string_view> split(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const size_t comma = line.find(',');
    fields.push_back(trim(line.substr(0, comma)));
    if (comma == std::string_view::npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

Diagnostic fault(int64_t line, std::string what, std::string hint = "") {
  return {Code::kPlanCsv, fmt::format("line {}", line), std::move(what), std::move(hint)};
}

Result<std::vector<Column>> read_header(std::string_view line, int64_t number) {
  const std::string_view expected =
      "the columns are id, lower, upper, size and optionally "
      "alignment, fixed, offset, hint";
  std::vector<Column> columns;
  for (const std::string_view name : split(line)) {
    const auto* row = std::ranges::find(kColumns, name, &ColumnName::name);
    if (row == kColumns.end())
      return fault(number, fmt::format("unknown column {}", quote(name)), std::string(expected));
    if (std::ranges::find(columns, row->column) != columns.end())
      return fault(number, fmt::format("column {} occurs twice", quote(name)));
    columns.push_back(row->column);
  }
  for (const ColumnName& needed : std::span(kColumns).first(5)) {
    if (std::ranges::find(columns, needed.column) == columns.end())
      return fault(number, fmt::format("there is no column {}", quote(needed.name)),
                   std::string(expected));
  }
  return columns;
}

struct Row {
  Buffer buffer;
  std::optional<int64_t> offset = {};
};

Result<Row> read_row(std::string_view line, int64_t number, const std::vector<Column>& columns) {
  const std::vector<std::string_view> fields = split(line);
  if (fields.size() != columns.size())
    return fault(number,
                 fmt::format("{} fields, the header has {}", fields.size(), columns.size()));
  Row row;
  for (size_t f = 0; f < fields.size(); ++f) {
    const std::string_view field = fields[f];
    const Column column = columns[f];
    if (column == Column::kId) row.buffer.name = std::string(field);
    if (column == Column::kId || column == Column::kHint) continue;
    if (column == Column::kGaps) {
      if (!field.empty()) return fault(number, "buffers with gaps in their lifetime are not read");
      continue;
    }
    int64_t value = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    if (error == std::errc::result_out_of_range)
      return fault(number, fmt::format("{} is out of range", quote(field)));
    if (error != std::errc() || end != field.data() + field.size()) {
      const bool optional = column == Column::kAlignment || column == Column::kFixed;
      if (optional && field.empty()) continue;
      return fault(number, fmt::format("{} is not an integer", quote(field)));
    }
    if (column == Column::kLower) row.buffer.lifetime.begin = value;
    if (column == Column::kUpper) row.buffer.lifetime.end = value;
    if (column == Column::kSize) row.buffer.size_bytes = value;
    if (column == Column::kAlignment) row.buffer.alignment = value;
    if (column == Column::kFixed) row.buffer.fixed_offset = value;
    if (column == Column::kOffset) row.offset = value;
  }
  return row;
}

std::string printable_id(const std::string& name) {
  std::string id = name;
  for (char& c : id)
    if (static_cast<unsigned char>(c) < 0x20 || c == ',' || c == '"' || c == 0x7f) c = '_';
  return id;
}

}  // namespace

Result<CsvProblem> read_csv(std::string_view text) {
  CsvProblem result;
  Diagnostics errors;
  std::vector<Column> columns;
  std::set<std::string> names;
  for (int64_t number = 1; !text.empty() && errors.size() < kMostErrors; ++number) {
    const size_t newline = text.find('\n');
    std::string_view line = trim(text.substr(0, newline));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
    if (number == 1 && line.starts_with("\xef\xbb\xbf")) line = trim(line.substr(3));
    if (line.empty()) continue;
    if (columns.empty()) {
      const Result<std::vector<Column>> header = read_header(line, number);
      if (!header) return header.error();
      columns = *header;
      continue;
    }
    const Result<Row> row = read_row(line, number, columns);
    if (!row) {
      errors.insert(errors.end(), row.error().begin(), row.error().end());
      continue;
    }
    if (!names.insert(row->buffer.name).second)
      errors.push_back(fault(number, fmt::format("id {} occurs twice", quote(row->buffer.name))));
    if (result.problem.buffers.size() == kMostBuffers)
      return fault(number, fmt::format("more than {} buffers", kMostBuffers));
    const std::string what = find_fault(result.problem, row->buffer);
    if (!what.empty()) errors.push_back(fault(number, quote(row->buffer.name) + " " + what));
    result.problem.buffers.push_back(row->buffer);
    if (row->offset) result.offsets.push_back(*row->offset);
  }
  if (!errors.empty()) return errors;
  if (columns.empty()) return fault(1, "there is no header line");
  if (!find_fault(result.problem).empty()) {
    // Once more with names as messages show them.
    for (Buffer& buffer : result.problem.buffers) buffer.name = quote(buffer.name);
    return Diagnostic{Code::kPlanCsv, "", find_fault(result.problem), ""};
  }
  return result;
}

std::string write_csv(const Problem& problem, const Plan* plan) {
  const bool aligned =
      std::ranges::any_of(problem.buffers, [](const Buffer& b) { return b.alignment != 1; });
  const bool fixed = std::ranges::any_of(
      problem.buffers, [](const Buffer& b) { return b.fixed_offset.has_value(); });
  std::string text = "id,lower,upper,size";
  if (aligned) text += ",alignment";
  if (fixed) text += ",fixed";
  if (plan != nullptr) text += ",offset";
  text += '\n';
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const Buffer& buffer = problem.buffers[b];
    text += fmt::format("{},{},{},{}", printable_id(buffer.name), buffer.lifetime.begin,
                        buffer.lifetime.end, buffer.size_bytes);
    if (aligned) text += fmt::format(",{}", buffer.alignment);
    if (fixed) text += buffer.fixed_offset ? fmt::format(",{}", *buffer.fixed_offset) : ",";
    if (plan != nullptr) text += fmt::format(",{}", plan->offsets[b]);
    text += '\n';
  }
  return text;
}

}  // namespace ingot::plan
