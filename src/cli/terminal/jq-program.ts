import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { keepBaselineWasm } from '../../core/baseline-wasm.ts'

// The types of Node leave these out.
type Memory = { buffer: ArrayBuffer }
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => never
  Instance: new (program: never, imports: object) => { exports: Record<string, unknown> }
  Memory: new () => Memory
}
type Imports = Record<string, Record<string, unknown>>
type Transfer = (fd: number, vectors: number, count: number, done: number) => number

export type JqProgram = (text: string, filter: string) => { stdout: string; stderr: string; exitCode: number }

const standardOutput = 1
/** An endless filter would fill the memory. */
const mostOutput = 128 * 1024 * 1024

/**
 * jq as WebAssembly. jq-wasm calls JavaScript for each byte, which takes longer than jq itself. The `instantiateWasm`
 * hook replaces its read and write with functions that copy whole blocks.
 */
export const loadJqProgram = async (): Promise<JqProgram> => {
  keepBaselineWasm()
  let memory: Memory | undefined
  let input: Uint8Array = new Uint8Array()
  let output: Buffer[] = []
  let written = 0

  /** Calls `move` for each buffer of the vectors until it moves less than a whole one; stores the total at `done`. */
  const transfer = (
    vectors: number,
    count: number,
    done: number,
    move: (part: Uint8Array) => number,
  ): number => {
    const { buffer } = memory!
    const view = new DataView(buffer)
    let total = 0
    for (let i = 0; i < count; i++) {
      const length = view.getUint32(vectors + 8 * i + 4, true)
      const moved = move(new Uint8Array(buffer, view.getUint32(vectors + 8 * i, true), length))
      total += moved
      if (moved < length) break
    }
    view.setUint32(done, total, true)
    return 0
  }
  // Its input is the only file in the file system of jq.
  const read: Transfer = (_fd, vectors, count, done) =>
    transfer(vectors, count, done, (part) => {
      const block = input.subarray(0, part.length)
      part.set(block)
      input = input.subarray(block.length)
      return block.length
    })
  const write =
    (other: Transfer): Transfer =>
    (fd, vectors, count, done) => {
      if (fd !== standardOutput) return other(fd, vectors, count, done)
      return transfer(vectors, count, done, (part) => {
        written += part.length
        if (written > mostOutput) throw new RangeError('The output is too large')
        output.push(Buffer.from(part))
        return part.length
      })
    }

  const replaced = { _fd_read: () => read, _fd_write: write }
  const instantiateWasm = (imports: unknown, onSuccess: (instance: never, program: never) => void): void => {
    let count = 0
    for (const group of Object.values(imports as Imports))
      for (const [key, value] of Object.entries(group)) {
        const { name } = value as { name: string }
        if (!Object.hasOwn(replaced, name)) continue
        group[key] = replaced[name as keyof typeof replaced](value as Transfer)
        count += 1
      }
    if (count !== 2) throw new Error('jq-wasm no longer imports _fd_read and _fd_write')
    const file = createRequire(import.meta.url).resolve('jq-wasm/jq.wasm')
    const program = new WebAssembly.Module(readFileSync(file))
    const instance = new WebAssembly.Instance(program, imports as Imports)
    memory = Object.values(instance.exports).find((one): one is Memory => one instanceof WebAssembly.Memory)
    onSuccess(instance as never, program)
  }

  const { loadJq } = await import('jq-wasm')
  const jq = await loadJq({ instantiateWasm })
  return (text, filter) => {
    input = Buffer.from(text)
    output = []
    written = 0
    const { stderr, exitCode } = jq.raw('', filter, ['-c'])
    return { stdout: Buffer.concat(output).toString(), stderr, exitCode }
  }
}
