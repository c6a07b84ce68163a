import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const options = { cwd: folder.path, env: { HOME: folder.path } }

test('svc service settle offers only a database', async () => {
  const { out } = await svc('service settle --help', options)
  expect(out).toContain('--database-url-file')
  expect(out).not.toContain('--data-dir')
  expect(await svc('service settle --yes --data-dir data', options)).toMatchObject({
    exit: 2,
    message: expect.stringContaining('--data-dir'),
  })
  expect(await svc('service settle --yes', options)).toMatchObject({
    exit: 2,
    message: 'svc service settle requires a database',
    hint: expect.stringContaining('--database-url-file'),
  })
})

test('every other svc service command offers both', async () => {
  for (const name of ['backup', 'restore', 'migrate', 'reset-operator-key', 'rotate-master-key'])
    expect((await svc(['service', name, '--help'], options)).out).toMatch(/--data-dir[^]*--database-url-file/)
})
