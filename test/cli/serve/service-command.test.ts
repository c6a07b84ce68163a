import { afterAll, expect, test } from 'vitest'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const folder = temporaryFolder()
afterAll(folder.remove)
const options = { cwd: folder.path, env: { HOME: folder.path } }

test('every svc service command offers a folder and a database', async () => {
  for (const name of ['backup', 'restore', 'migrate', 'settle', 'reset-operator-key', 'rotate-master-key'])
    expect((await svc(['service', name, '--help'], options)).out).toMatch(/--data-dir[^]*--database-url-file/)
})
