'use strict'
// Loads the chunks of the bundle. Compiling them is a third of a short command, so the build keeps V8's compiled code. V8
// refuses code of another version or under other flags, and compiles the source.
const { existsSync, readFileSync } = require('node:fs')
const { join } = require('node:path')
const { Script } = require('node:vm')

const dist = join(__dirname, '..', 'dist')
if (!existsSync(dist)) require('./not-built.js')
const modules = new Map()
const scripts = new Map()
let compiled
let isEntered = false

/** The file is a length, a JSON object of names to [offset, length], and the code. */
const readCompiled = () => {
  try {
    const file = readFileSync(join(dist, 'compiled.bin'))
    const start = 4 + file.readUInt32LE(0)
    const places = new Map(Object.entries(JSON.parse(file.latin1Slice(4, start))))
    return (name) => {
      const [offset, length] = places.get(name) ?? []
      return length && file.subarray(start + offset, start + offset + length)
    }
  } catch {
    return () => undefined
  }
}

const compile = (name) => {
  const filename = join(dist, name)
  const source = `(function (exports, require, module, __filename, __dirname) {${readFileSync(filename, 'utf8')}\n})`
  // The name of a chunk contains a hash of its content, so code of an earlier build is never used. Entries have no hash. The
  // entry is small, and answers --version before the code is read.
  const cachedData =
    isEntered && /-[\w-]{8}\.cjs$/.test(name) ? (compiled ??= readCompiled())(name) : undefined
  const script = new Script(source, { filename, ...(cachedData && { cachedData }) })
  scripts.set(name, script)
  return script.runInThisContext()
}

const requireFrom = (id) => (id.startsWith('./') ? load(id.slice(2)) : require(id))

const load = (name) => {
  const there = modules.get(name)
  if (there) return there.exports
  const run = compile(name)
  const module = { exports: {} }
  modules.set(name, module)
  try {
    run.call(module.exports, module.exports, requireFrom, module, join(dist, name), dist)
  } catch (error) {
    // As in Node: the next caller loads it again.
    modules.delete(name)
    throw error
  }
  if (name === 'main.cjs') isEntered = true
  return module.exports
}

module.exports = { load, modules, scripts }
