import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addedConsequence, addedOutcome, chooseAdded } from '../../../src/cli/extension/added.ts'
import type { Context } from '../../../src/cli/context/context.ts'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { memoryIo } from '../memory-io.ts'
import { svc } from '../svc.ts'

const tablet = { id: '7', name: 'Tablet\u202e', user_id: '1', owner: 'Ada L' }
const agent = { id: '9', name: 'Coder', user_id: '1', owner: 'Ada L' }
const added = { devices: [tablet], agents: [agent] }

/** A terminal on which the question is answered. */
const asked = async (
  answer: boolean | undefined,
  options: object = {},
  input: Record<string, unknown> = {},
) => {
  const io = memoryIo({ tty: true })
  const prompt = answer === undefined ? undefined : { confirm: async () => answer }
  const context = { io, prompt: async () => prompt } as unknown as Context
  await chooseAdded(added, input, options, context)
  return { input, err: io.err() }
}

describe('what was added', () => {
  test.each([true, false])(
    'is listed by name on a terminal, which asks whether it ends too: %j',
    async (answer) => {
      const { input, err } = await asked(answer)
      expect(input).toEqual({ with_added: answer })
      expect(err).toBe(
        'It added these, which still work:\n  device 7 "Tablet\\u{202e}" of user 1 (Ada L)\n  agent 9 "Coder" of user 1 (Ada L)\n',
      )
    },
  )

  test.each([
    ['with --yes', true, { yes: true }, {}],
    ['with --confirm', true, { confirm: '5' }, {}],
    ['without a terminal', undefined, {}, {}],
    ['with --with-added', false, {}, { with_added: true }],
  ] as const)('is not asked about %s', async (_, answer, options, input) => {
    expect(await asked(answer, options, { ...input })).toEqual({ input, err: '' })
  })

  test('is part of the last question, and of what is said afterwards', () => {
    expect(addedConsequence(added, { with_added: true })[1]).toBe(
      'Ends with it: agent 9 "Coder" of user 1 (Ada L)',
    )
    expect(addedConsequence(added, {})[1]).toBe('Stays: agent 9 "Coder" of user 1 (Ada L)')
    const many = { devices: Array.from({ length: 12 }, () => tablet), agents: [] }
    expect(addedOutcome({ remaining: many }, 'svc key revoke 3 --with-added').slice(-2)).toEqual([
      'Still works: and 2 more',
      'hint: Review these. To end them too: svc key revoke 3 --with-added',
    ])
  })
})

describe('svc key revoke', () => {
  let service: RunningService
  let dir: string
  let remove: () => void
  const run = (line: string, key = service.operatorKey!) =>
    svc(line, {
      cwd: dir,
      env: { SVC_BASE_URL: service.baseUrl, SVC_API_KEY: key, SVC_CONFIG_DIR: dir, SVC_ORG: 'acme' },
      now: () => new Date(),
    })
  beforeEach(async () => {
    ;({ path: dir, remove } = temporaryFolder())
    const data = { host: '127.0.0.1', port: 0, dataDir: join(dir, 'data'), env: {}, log: () => undefined }
    service = await startService({ ...data, dev: true })
    await run('org create --name Acme --slug acme')
    await run(
      'user create --first-name Ada --last-name L --email a@a.example --country-code +1 --mobile 2025550101',
    )
  })
  afterEach(async () => {
    await service.stop()
    remove()
  })

  test('says with --yes what remains, with a command that ends it', async () => {
    const top = (await run('key create --name top --can all -o json')).data() as { id: string; key: string }
    expect(await run('user enroll 1 --software --file a.json', top.key)).toMatchObject({ exit: 0 })
    const { exit, err } = await run(`key revoke ${top.id} --yes`)
    expect(exit).toBe(0)
    expect(err).toContain('Still works: device 1 "Software key" of user 1 (Ada L)\n')
    const hint = /^hint: Review these\. To end them too: svc (.*)$/m.exec(err)![1]!
    expect((await run(`${hint} --yes`)).err).toContain(
      'Ended with it: device 1 "Software key" of user 1 (Ada L)\n',
    )
    expect((await run('user devices list 1 --jq .[].state')).out).toBe('revoked\n')
  })

  test('ends it at once with --with-added --yes', async () => {
    const top = (await run('key create --name top --can all -o json')).data() as { id: string; key: string }
    await run('user enroll 1 --software --file a.json', top.key)
    expect(await run(`key revoke ${top.id} --with-added --yes`)).toMatchObject({ exit: 0 })
    expect((await run('user devices list 1 --jq .[].state')).out).toBe('revoked\n')
  })
})
