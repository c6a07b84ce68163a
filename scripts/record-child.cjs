'use strict'
// Runs short commands one after the other in this process, and writes down the code that V8 then has of each chunk.
const { writeFileSync } = require('node:fs')
const { load, modules, scripts } = require('../bin/load.js')

// V8 takes compiled code only under the flags that it was recorded under, and `core/baseline-wasm.ts` changes a flag when
// most chunks are loaded already.
require('node:v8').setFlagsFromString = () => undefined

const commands = ['org list', 'user list --org 1 -o json']
const file = process.argv[2]

const write = () => {
  const places = {}
  const parts = []
  let offset = 0
  for (const [name, script] of scripts) {
    const code = script.createCachedData()
    places[name] = [offset, code.length]
    parts.push(code)
    offset += code.length
  }
  const names = Buffer.from(JSON.stringify(places))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(names.length)
  writeFileSync(file, Buffer.concat([length, names, ...parts]))
}

const next = () => {
  if (process.exitCode) throw new Error(`a command ended with ${process.exitCode}`)
  const command = commands.shift()
  if (command === undefined) return write()
  process.argv = [process.execPath, 'svc', ...command.split(' ')]
  modules.delete('main.cjs')
  load('main.cjs')
  return process.once('beforeExit', next)
}
next()
