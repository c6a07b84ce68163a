import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export type LoopChild = {
  /** Its address, from the first line that it printed. */
  ready: Record<string, unknown>
  /** The longest delay of its event loop since the last call, in ms. */
  longest(): Promise<number>
  stop(): Promise<void>
}

const monitor = fileURLToPath(new URL('loop-delay.cjs', import.meta.url))

/** Starts a Node process with a monitored event loop, and waits for its first line of JSON. */
export const startLoopChild = async (args: string[], env: Record<string, string>): Promise<LoopChild> => {
  const child = spawn(process.execPath, ['--require', monitor, ...args], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  })
  const ended = once(child, 'exit')
  const ready = new Promise<Record<string, unknown>>((resolve, reject) => {
    createInterface({ input: child.stdout! }).on('line', (line) => {
      if (line.startsWith('{')) resolve(JSON.parse(line) as Record<string, unknown>)
    })
    void ended.then(([exit]) => reject(new Error(`The process ended with ${exit} before it was ready`)))
  })
  return {
    ready: await ready,
    longest: async () => {
      const answered = once(child, 'message') as Promise<[number]>
      child.send('longest')
      return (await answered)[0]
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}
