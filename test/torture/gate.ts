import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { connectGate, countingServer, gone } from '../e2e/gate-client.ts'
import { createPerson, remote, type Person } from '../e2e/person.ts'
import { bin, startService, type Service } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { createVariant } from './variant.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 3
const operator = 'svc_op_endtoend_0123456789012345678901234567890'

type Gate = Awaited<ReturnType<typeof connectGate>>
type Scene = { gate: Gate; ada: Person; pids: () => number[]; service: Service }

const write = { path: '/srv/a', text: 'one' }
const call = '"method":"tools/call","params":{"name":"write_file","arguments":{}}'
const whole = `{"jsonrpc":"2.0","id":5,${call}}`

/** Lines that some parser reads as a call of a tool that must be approved. */
const hostile = [
  '{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/call","params":{"name":"write_file"}}',
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_file","name":"write_file"}}',
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_file","Name":"write_file"}}',
  '{"jsonrpc":"2.0","id":5,"method":"ping","Method":"tools/call","params":{"name":"write_file"}}',
  `[${whole}]`,
  `${whole}${whole}`,
  `{"jsonrpc":"2.0","method":"notifications/progress","params":\r${whole}\r}`,
  `{"jsonrpc":"2.0","method":"notifications/progress","params":{"t":"\u2028${whole.replaceAll('"', '\\"')}\u2028"}}`,
  `{"jsonrpc":"2.0",${call}}`,
  `{"jsonrpc":"2.0","id":null,${call}}`,
  '{"jsonrpc":"2.0","id":5,"method":"Tools/Call","params":{"name":"write_file"}}',
  '{"jsonrpc":"2.0","id":5,"method":"call_tool","params":{"name":"write_file"}}',
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"write_file\\u0000"}}',
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"write_file","arguments":{"__proto__":{}}}}',
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"write_file","arguments":{"n":1e999}}}',
]

/** What happens to a call that is held; returns how often the tool may have been called. */
const cases: Record<string, (scene: Scene) => Promise<number>> = {
  denied: async ({ gate, ada }) => {
    gate.call(1, 'write_file', write)
    await ada.answer({ decision: 'deny' })
    await gate.answer(1)
    return 0
  },
  expired: async ({ gate }) => {
    gate.call(1, 'write_file', write)
    await gate.answer(1)
    return 0
  },
  cancelled: async ({ gate, ada }) => {
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    gate.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    return 0
  },
  'client gone': async ({ gate, ada }) => {
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    await gate.close()
    return 0
  },
  'gate killed': async ({ gate, ada, pids }) => {
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    gate.child.kill('SIGKILL')
    await Promise.all(pids().map(gone))
    return 0
  },
  'server killed': async ({ gate, ada, pids }) => {
    gate.call(1, 'write_file', write)
    await ada.waitForRequest()
    process.kill(pids()[0]!, 'SIGKILL')
    await gate.ended
    return 0
  },
  'other arguments': async ({ gate, ada }) => {
    gate.call(1, 'write_file', write)
    await ada.answer()
    await gate.answer(1)
    gate.call(2, 'write_file', { ...write, text: 'two' })
    await ada.answer({ decision: 'deny' })
    await gate.answer(2)
    return 1
  },
  replayed: async ({ gate, ada }) => {
    gate.call(1, 'write_file', write)
    await ada.answer()
    await gate.answer(1)
    gate.call(1, 'write_file', write)
    await ada.answer({ decision: 'deny' })
    return 1
  },
  'hostile lines': async ({ gate }) => {
    for (const line of hostile) gate.write(line)
    gate.call(9, 'read_file')
    await gate.answer(9)
    return 0
  },
}

const runAll = async (program: readonly string[], times: number, only?: readonly string[]) => {
  const folder = temporaryFolder()
  const service = await startService(join(folder.path, 'data'), operator, ['--dev'])
  const hits: Record<string, number> = {}
  const examples: string[] = []
  let [count, people] = [0, 0]
  try {
    for (let round = 0; round < times; round++)
      for (const [name, act] of Object.entries(cases)) {
        if (only && !only.includes(name)) continue
        count++
        const ada = await createPerson(remote(service.baseUrl, operator), (people += 1))
        const { call: send } = remote(service.baseUrl, operator)
        const body = { name: 'gate', org_id: ada.org.id, scopes: ['ask'] }
        const path = (file: string): string => join(folder.path, `${people}-${file}`)
        writeFileSync(path('key'), (await send('POST', '/svc/v1/keys', { body })).body.data.key, {
          mode: 0o600,
        })
        const timeout = name === 'expired' ? 1 : 60
        const rules = `server: s\nto: "${ada.mobile}"\ntimeout: ${timeout}\nrules: [{tools: read_*, action: pass}]\n`
        writeFileSync(path('rules'), rules)
        const env = { LEDGER: path('ledger'), PIDS: path('pids') }
        const passed = Object.keys(env).flatMap((one) => ['--env', one])
        const key = ['--base-url', service.baseUrl, '--key-file', path('key')]
        const server = ['--', process.execPath, countingServer]
        const args = ['mcp', 'gate', '--rules', path('rules'), ...key, ...passed, ...server]
        const child = spawn(process.execPath, [...program, ...args], {
          env: { PATH: process.env.PATH, SVC_CONFIG_DIR: join(folder.path, 'config'), ...env },
        })
        const gate = await connectGate(child, env.LEDGER)
        const pids = (): number[] => readFileSync(env.PIDS, 'utf8').trim().split(' ').map(Number)
        try {
          const most = await act({ gate, ada, pids, service })
          await gate.close()
          await Promise.all(pids().map(gone))
          const done = gate.done().filter(({ tool }) => tool === 'write_file').length
          hits[name] = (hits[name] ?? 0) + 1
          if (done !== most) examples.push(`${name}: called ${done} times, not ${most}`)
        } finally {
          child.kill('SIGKILL')
        }
      }
    return { count, failures: examples.length, hits, examples: examples.slice(0, 5) }
  } finally {
    await service.stop()
    folder.remove()
  }
}

export const torture: Torture = {
  name: `A gate before a server: ${Object.keys(cases).length} ways in which a held call ends without a yes`,
  must: '0 calls that reach the server',
  run: async (): Promise<Result> => {
    const honest = await runAll([bin], rounds)
    // Forwards each call while it is pending.
    const verdict = 'const verdict = await held.hold('
    const { program, remove } = createVariant([
      {
        file: 'cli/mcp/gate/gate.ts',
        from: verdict,
        to: `forward(call.bytes, { id: call.id, call })\n        ${verdict}`,
      },
    ])
    try {
      const broken = await runAll(program, 1, ['denied', 'cancelled', 'client gone'])
      return { ...honest, control: broken.failures }
    } finally {
      remove()
    }
  },
}
