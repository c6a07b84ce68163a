import { writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { changeableBy, readRootFile } from '../../../src/cli/guard/root-file.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

// test/system/guards.test.ts tries the files of /etc/svc, as root.

const { path, remove } = temporaryFolder()
afterAll(remove)
const file = `${path}/guard.yaml`
writeFileSync(file, 'x')

test.each(['/dev/stdin', '/proc/self/exe', '/proc/self/cwd/x'])(
  'the text of a link of a process is not where it leads: %s',
  (link) => {
    expect(changeableBy(link)?.message).toContain('leads through a process')
  },
)

test.each(['/proc/version', '/proc', '/dev/pts'])(
  'a file or folder that the kernel makes is not only root’s: %s',
  (made) => {
    expect(changeableBy(made)?.message).toBe(`${made} is not in a file system of a disk`)
  },
)

describe('a file that only root can change', () => {
  test.each(['/usr/bin/env', '/bin/sh', '/etc/passwd'])('is %s', (one) => {
    expect(changeableBy(one)).toBeUndefined()
  })

  test.each([
    ['relative.yaml', 'is not an absolute path'],
    ['/etc/../etc/passwd', 'is not an absolute path'],
    ['/etc/passwd/', 'is not an absolute path'],
    ['/etc/none.yaml', 'does not exist'],
    ['/none/guard.yaml', 'does not exist'],
    ['/etc', 'is not a regular file'],
    ['/dev/null', 'is not a regular file'],
    [file, /Everybody can write|Others than root|belongs to/],
  ])('is not %s', (one, says) => {
    expect(() => readRootFile(one, { what: 'configuration' })).toThrow(says)
  })

  test('is not a program in a folder that others can write to', () => {
    expect(changeableBy(file)?.message).toMatch(/write to|belongs to/)
    expect(changeableBy('env')?.message).toContain('does not exist')
  })
})
