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

test('the only authenticator is used without a name', () => {
  save('approver-1-7.json')
  save('profiles.json', '{}')
  expect(read()).toEqual(keyFile)
})
test('one of two authenticators must be named', () => {
  save('approver-1-7.json')
  const other = save('approver-1-8.json', { ...keyFile, user_id: 8 })
  expect(() => read()).toThrow(
    expect.objectContaining({ exit: 'usage', hint: expect.stringContaining(other) }),
  )
  expect(read(other).user_id).toBe(8)
})
test('a missing authenticator is an error that explains how to create one', () => {
  expect(() => read()).toThrow(expect.objectContaining({ hint: expect.stringContaining('--software') }))
  expect(() => read('gone.json')).toThrow(/File/)
})
test('an authenticator that others can read is rejected, with the command that corrects it', () => {
  const path = save('approver-1-7.json')
  chmodSync(path, 0o644)
  expect(() => read()).toThrow(expect.objectContaining({ hint: `chmod 600 '${path}'` }))
})
test('a link is rejected', () => {
  symlinkSync(save('real.json'), join(folder.path, 'link.json'))
  expect(() => read('link.json')).toThrow(/authenticator .* is a symbolic link/)
})
test.each(['', '{}', 'null', '[1]', '{"version":1}', JSON.stringify({ ...keyFile, key: {} })])(
  '%j is not an authenticator',
  (content) => {
    expect(() => read(save('odd.json', content))).toThrow(
      expect.objectContaining({ code: 'authenticator_file' }),
    )
  },
)
