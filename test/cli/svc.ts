import { run } from '../../src/cli/main.ts'
import { commandWords } from '../command-words.ts'
import { memoryIo, type MemoryOptions } from './memory-io.ts'

/** Runs a command in this process, on a terminal in memory. */
export const svc = async (command: string | string[], options: MemoryOptions = {}) => {
  const io = memoryIo(options)
  const exit = await run(typeof command === 'string' ? commandWords(command) : command, io)
  const [, message, hint] = /^svc: (.*)\n(?:hint: (.*)\n)?/m.exec(io.err()) ?? []
  return { exit, out: io.out(), err: io.err(), message, hint, data: () => JSON.parse(io.out()) }
}
