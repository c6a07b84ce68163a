import { closeSync, mkdtempSync, openSync, readlinkSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { changeableBy, readRootFile } from '../../../src/cli/guard/root-file.ts'
import { temporaryFolder } from '../../temporary-folder.ts'

// test/system/guards.test.ts tries the files of /etc/svc, as root.

const { path, remove } = temporaryFolder()
afterAll(remove)
const file = `${path}/guard.yaml`
writeFileSync(file, 'x')

test.runIf(process.getuid?.() === 0)('the text of a link of a process is not where it leads', () => {
  const folder = mkdtempSync('/root/svc-test-')
  writeFileSync(`${folder}/x`, 'x')
  const descriptor = openSync(`${folder}/x`, 'r')
  rmSync(`${folder}/x`)
  const link = `/proc/${process.pid}/fd/${descriptor}`
  const named = readlinkSync(link)
  writeFileSync(named, 'another')
  expect(changeableBy(named)).toBeUndefined()
  expect(changeableBy(link)?.message).toContain('leads to another file')
  closeSync(descriptor)
  rmSync(folder, { recursive: true })
})

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
