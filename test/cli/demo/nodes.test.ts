import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { findPrograms } from '../../../src/cli/demo/database.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

const folder = temporaryFolder()
afterAll(folder.remove)

const install = (bin: string, names = ['initdb', 'postgres']): string => {
  mkdirSync(bin, { recursive: true })
  for (const name of names) {
    writeFileSync(join(bin, name), '')
    chmodSync(join(bin, name), 0o755)
  }
  return bin
}

test('svc demo --nodes finds the newest PostgreSQL of Debian, otherwise the one in the PATH', () => {
  const debian = join(folder.path, 'postgresql')
  const other = install(join(folder.path, 'bin'))
  expect(findPrograms({ PATH: `/nowhere::${other}` }, debian)).toBe(other)
  install(join(debian, '9.6', 'bin'))
  const newest = install(join(debian, '17', 'bin'))
  // The client programs alone.
  install(join(debian, '18', 'bin'), ['psql'])
  expect(findPrograms({ PATH: other }, debian)).toBe(newest)
})

test('without PostgreSQL, svc demo --nodes says what to install', () => {
  expect(() => findPrograms({ PATH: folder.path }, join(folder.path, 'none'))).toThrow(
    expect.objectContaining({
      exit: 'failed',
      code: 'no_postgresql',
      message: expect.stringContaining('requires PostgreSQL'),
      hint: expect.stringMatching(/apt install postgresql.*\n.*svc demo$/),
    }),
  )
})

test.each(['0', '1', '2', '10', '3.5', '-3', 'three', ''])('svc demo --nodes rejects "%s"', async (nodes) => {
  expect(await svc(['demo', `--nodes=${nodes}`])).toMatchObject({
    exit: 2,
    message: `--nodes must be 3 to 9, not "${nodes}"`,
    hint: 'svc demo --nodes 3',
  })
})
