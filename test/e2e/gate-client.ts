import type { ChildProcess } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { outcome } from './processes.ts'

// A client of raw lines for a gate in a process of its own.

export const countingServer = fileURLToPath(new URL('counting-server.mjs', import.meta.url))

// oxlint-disable-next-line no-explicit-any -- tests read what the gate and the service answer
export type Anything = any
export type Line = { id?: unknown; method?: string; params?: Anything; result?: Anything; error?: Anything }

/** What a counting server has carried out, and when. */
export const readLedger = (file: string): { tool: string; args: Anything; at: string }[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    : []

/** Starts a gate and a client that has been initialized. */
export const connectGate = async (child: ChildProcess, ledger: string) => {
  const lines: Line[] = []
  const waiting = new Set<() => void>()
  const wake = (): void => waiting.forEach((one) => one())
  createInterface({ input: child.stdout! }).on('line', (line) => {
    lines.push(JSON.parse(line) as Line)
    wake()
  })
  let log = ''
  child.stderr!.on('data', (text: Buffer) => {
    log += text.toString()
    wake()
  })
  let isOver = false
  const ended = outcome(child).then((all) => {
    isOver = true
    wake()
    return all
  })
  child.stdin!.on('error', () => undefined)

  const until = async <T>(find: () => T | undefined): Promise<T> => {
    for (;;) {
      const found = find()
      if (found !== undefined && found !== false) return found
      if (isOver) throw new Error(`The gate has ended: ${log}`)
      await new Promise<void>((resolve) => {
        const one = (): void => {
          waiting.delete(one)
          resolve()
        }
        waiting.add(one)
      })
    }
  }
  const write = (line: string | Buffer): void => {
    child.stdin!.write(line)
    child.stdin!.write('\n')
  }
  const send = (message: object): void => write(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const answer = (id: unknown): Promise<Line> =>
    until(() => lines.find((line) => line.id === id && line.method === undefined))
  const call = (id: unknown, name: string, args: object = {}, meta?: object): void =>
    send({ id, method: 'tools/call', params: { name, arguments: args, ...(meta && { _meta: meta }) } })

  send({
    id: 'init',
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: { roots: {}, sampling: {}, elicitation: {} },
      clientInfo: { name: 'robot', title: 'Robot 7', version: '1' },
    },
  })
  await answer('init')
  send({ method: 'notifications/initialized' })

  return {
    child,
    ledger,
    lines,
    ended,
    log: () => log,
    until,
    write,
    send,
    answer,
    call,
    /** What the server has carried out. */
    done: () => readLedger(ledger).map(({ tool, args }) => ({ tool, args: args as Anything })),
    /** What the server has received. */
    raw: () => readFileSync(`${ledger}.raw`),
    close: () => {
      child.stdin!.end()
      return ended
    },
  }
}

/** Whether a process exists. */
export const exists = (pid: number): boolean => {
  try {
    // A process that has ended and was not collected is gone too.
    return !/^State:\s*Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

export const gone = async (pid: number): Promise<void> => {
  while (exists(pid)) await sleep(20)
}
