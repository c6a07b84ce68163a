import { expect, test } from 'vitest'
import { json } from '../../fake-hosted.ts'
import { installHooks, run, service } from '../other-service.ts'

installHooks()

const grant = {
  request_id: 'apr_3mYk8wQZ',
  org_id: 1,
  user_id: '7',
  key_id: '3',
  credential: 'ci',
  what: 'Run make',
  varying: [],
  used: 2,
  uses: 10,
  ends_at: '2030-01-01T00:00:00.000Z',
}

const list = (args: string[], data: object = grant) => {
  service.always(json(200, { status: 'success', message: 'Grants', data: [data] }))
  return run(['grant', 'list', '--org', '1', ...args], { tty: true, columns: 120 })
}

test('a list says in one column how often a grant was used and can be', async () => {
  const { out } = await list([])
  expect(out).toMatch(/WHAT\s+VARYING\s+USED\s+ENDS_AT/)
  expect(out).toContain(' 2 of 10 ')
})

test('a list of a service that does not say how often shows what it says', async () => {
  const { uses: _, ...other } = grant
  const { out } = await list([], other)
  expect(out).toMatch(/ 2 +2030/)
})

test('every other format has both numbers', async () => {
  expect((await list(['-o', 'tsv'])).out).toContain('\t2\t10\t')
  expect((await list(['-o', 'csv'])).out).toContain(',2,10,')
  expect(JSON.parse((await list(['-o', 'json'])).out)).toMatchObject([{ used: 2, uses: 10 }])
})
