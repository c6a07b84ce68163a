import { run } from '../../src/cli/main.ts'
import { memoryIo, type MemoryOptions } from './memory-io.ts'

/** Splits a line as a shell would: at spaces outside of quotes. */
const split = (line: string): string[] =>
  [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replaceAll(/"([^"]*)"|'([^']*)'/g, '$1$2'),
  )

/** Runs a command in this process, on a terminal in memory. */
export const svc = async (command: string | string[], options: MemoryOptions = {}) => {
  const io = memoryIo(options)
  const exit = await run(typeof command === 'string' ? split(command) : command, io)
  const [, message, hint] = /^svc: (.*)\n(?:hint: (.*)\n)?/m.exec(io.err()) ?? []
  return { exit, out: io.out(), err: io.err(), message, hint, data: () => JSON.parse(io.out()) }
}
