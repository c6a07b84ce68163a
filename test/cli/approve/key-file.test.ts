import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readKeyFile } from '../../../src/cli/approve/key-file.ts'
import { createSoftwareKey } from '../../../src/client/software-authenticator.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { memoryIo } from '../memory-io.ts'

let folder: ReturnType<typeof temporaryFolder>
beforeEach(() => (folder = temporaryFolder()))
afterEach(() => folder.remove())

const keyFile = {
  version: 1,
  device_id: 1,
  org_id: 1,
  user_id: 7,
  mobile: '+12025550101',
  key: createSoftwareKey('ES256', { rpId: 'localhost' }),
}
const save = (name: string, content: unknown = keyFile): string => {
  const path = join(folder.path, name)
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 })
  return path
}
const read = (file?: string) =>
  readKeyFile(file, memoryIo({ cwd: folder.path, env: { SVC_CONFIG_DIR: folder.path } }))

test('the only authenticator there is needs no name', () => {
  save('approver-1-7.json')
  save('profiles.json', '{}')
  expect(read()).toEqual(keyFile)
})
test('of two, one must be named', () => {
  save('approver-1-7.json')
  const other = save('approver-1-8.json', { ...keyFile, user_id: 8 })
  expect(() => read()).toThrow(
    expect.objectContaining({ exit: 'usage', hint: expect.stringContaining(other) }),
  )
  expect(read(other).user_id).toBe(8)
})
test('where there is none, it says how one is made', () => {
  expect(() => read()).toThrow(expect.objectContaining({ hint: expect.stringContaining('--software') }))
  expect(() => read('gone.json')).toThrow(/File/)
})
test('one that others can read is refused, with the command that mends it', () => {
  const path = save('approver-1-7.json')
  chmodSync(path, 0o644)
  expect(() => read()).toThrow(expect.objectContaining({ hint: `chmod 600 '${path}'` }))
})
test('a link is refused', () => {
  symlinkSync(save('real.json'), join(folder.path, 'link.json'))
  expect(() => read('link.json')).toThrow(/authenticator .* is a symbolic link/)
})
test.each(['', '{}', 'null', '[1]', '{"version":1}', JSON.stringify({ ...keyFile, key: {} })])(
  '%j is no authenticator',
  (content) => {
    expect(() => read(save('odd.json', content))).toThrow(
      expect.objectContaining({ code: 'authenticator_file' }),
    )
  },
)
