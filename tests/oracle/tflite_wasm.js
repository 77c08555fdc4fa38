// SPDX-License-Identifier: Apache-2.0
// Runs a .tflite model in TFLite's interpreter, compiled to WebAssembly.
//
//   node tflite_wasm.js MODEL.tflite < requests > answers
//
// Requests are lines of JSON, lists of base64 texts, one per input of the model: its bytes, little-endian.
// Each is answered by a line: {"outputs": [{"name", "dtype", "shape", "data": base64}]}.
'use strict';

const fs = require('fs');
const path = require('path');
const readline = require('readline');

const folder = path.join(path.dirname(require.resolve('@tensorflow/tfjs-tflite/package.json')), 'wasm');
const factory = require(path.join(folder, 'tflite_web_api_cc_simd.js'));

function elements(vector) {
  const all = [];
  for (let i = 0; i < vector.size(); ++i) all.push(vector.get(i));
  return all;
}

function bytesOf(tensor) {
  const data = tensor.data();
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
}

async function main() {
  const model = fs.readFileSync(process.argv[2]);
  const wasmBinary = fs.readFileSync(path.join(folder, 'tflite_web_api_cc_simd.wasm'));
  const module = await factory({wasmBinary, print: () => {}, printErr: () => {}});
  const address = module._malloc(model.length);
  module.HEAPU8.set(model, address);
  const created = module.TFLiteWebModelRunner.CreateFromBufferAndOptions(
      address, model.length, {numThreads: 1, enableProfiling: false, maxProfilingBufferEntries: 16});
  if (!created.ok()) throw new Error(created.errorMessage());
  const runner = created.value();
  for await (const line of readline.createInterface({input: process.stdin})) {
    const given = JSON.parse(line);
    elements(runner.GetInputs()).forEach((tensor, i) => bytesOf(tensor).set(Buffer.from(given[i], 'base64')));
    if (!runner.Infer()) throw new Error('the interpreter refuses to run');
    const outputs = elements(runner.GetOutputs()).map(
        (tensor) => ({name: tensor.name, dtype: tensor.dataType, shape: tensor.shape,
                      data: Buffer.from(bytesOf(tensor)).toString('base64')}));
    process.stdout.write(JSON.stringify({outputs}) + '\n');
  }
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
