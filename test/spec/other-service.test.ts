import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { temporaryFolder } from '../temporary-folder.ts'
import { matches, startExactHosted, type ExactHosted } from '../exact-hosted.ts'
import { standing } from './law.ts'
import { svc } from '../cli/svc.ts'

// Every command against services that return what the specification shows and nothing more.

type Typed = { route: string; argv: string[]; body: unknown }

const commands = readFileSync(new URL('commands.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line): Typed => {
    const [route, words, body] = line.split(' | ').map((part) => part.trim())
    return { route: route!, argv: words!.split(' '), body: body && JSON.parse(body) }
  })
const each = commands.map((one) => [one.argv.join(' '), one] as const)
/** Its success alone does not prove that anybody approved, and svc says so. */
const needsProof = ([words]: (typeof each)[number]): boolean => words.startsWith('auth validate')
const shown = each.filter((one) => !needsProof(one))

const start = (ids: boolean) => {
  const folder = temporaryFolder()
  let service: ExactHosted
  beforeAll(async () => {
    service = await startExactHosted({ ids, routes: standing })
    writeFileSync(join(folder.path, 'secret.txt'), 's3cret\n')
    writeFileSync(join(folder.path, 'imei.json'), '{"deviceImei":"352099001761481"}')
  })
  afterAll(async () => {
    await service.close()
    folder.remove()
  })
  return async (argv: string[]) => {
    const before = service.rest().length
    const ran = await svc([...argv, '-o', 'json'], {
      cwd: folder.path,
      env: { SVC_CONFIG_DIR: folder.path, SVC_BASE_URL: service.baseUrl, SVC_API_KEY: 'key' },
    })
    const sent = service.rest().slice(before)
    return {
      ...ran,
      sent: sent.map(({ method, path }) => `${method} ${path.replace('/admin/public/api', '')}`),
      body: JSON.parse(sent.at(-1)?.body || 'null') as unknown,
    }
  }
}

test('each of the 64 operations has a command here', () => {
  const reached = standing.filter((one) => commands.some(({ route }) => matches(one, route)))
  expect([reached.length, commands.length]).toEqual([64, 64])
})

describe('a service that returns no IDs', () => {
  const run = start(false)

  test.each(each.filter(needsProof))(
    'is shown by svc %s, which says that it proves nothing',
    async (_, one) => {
      const { exit, out, err, sent } = await run(one.argv)
      expect([exit, JSON.parse(out), sent]).toEqual([0, { status: 'success', message: 'OK' }, [one.route]])
      expect(err).toContain('names no verification')
    },
  )

  test.each(shown)('works with svc %s', async (_, { route, argv, body }) => {
    const { exit, out, err, sent, body: gone } = await run(argv)
    expect({ exit, sent, err }).toEqual({ exit: 0, sent: [route], err: expect.any(String) })
    expect(gone).toEqual(body ?? gone)
    // Only what the service sent.
    const output = JSON.parse(out) as unknown
    const data = [
      [{ name: 'Acme', slug: 'acme' }],
      { name: 'Acme', slug: 'acme' },
      { stockName: 'ACME', stockPrice: '1,234.50', stockExchangeName: 'XNAS' },
    ]
    expect([{ status: 'success', message: 'OK' }, ...data]).toContainEqual(output)
    expect(err.replace(/^OK\n/, '')).toBe('')
  })

  const named = each.filter(([words]) => /--org 12|org (?:update|delete) 12/.test(words))
  test.each(named)('fails svc %s when a slug needs an ID', async (_, { argv }) => {
    const { exit, err, out, sent } = await run(argv.map((word) => (word === '12' ? 'acme' : word)))
    expect([exit, out, sent]).toEqual([1, '', ['GET /organization/acme']])
    expect(JSON.parse(err)).toMatchObject({
      code: 'no_id',
      message: 'This service does not return the id of "acme"',
      hint: expect.stringContaining('--org 12'),
    })
  })
})

describe('a service whose IDs are text', () => {
  const run = start(true)

  test.each(shown)('works with svc %s, also with the slug of the organization', async (_, typed) => {
    const { route, argv, body } = typed
    const { exit, sent, body: gone } = await run(argv.map((word) => (word === '12' ? 'acme' : word)))
    expect([exit, sent.at(-1)]).toEqual([0, route])
    expect(gone).toEqual(body ?? gone)
  })
})
