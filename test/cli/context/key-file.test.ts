import { chmodSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chooseKeyFile } from '../../../src/cli/context/key-file.ts'
import { openContext } from '../../../src/cli/main.ts'
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
const contextOf = () => {
  const context = openContext(memoryIo({ cwd: folder.path, env: { SVC_CONFIG_DIR: folder.path } }))
  context.command = {
    words: 'approve inbox',
    line: async () => 'svc approve inbox',
    again: async ({ plus = [] }) => ['svc approve inbox', ...plus].join(' '),
  }
  return context
}
const read = (file?: string) => chooseKeyFile(file, contextOf())

test('the only authenticator is used without a name', async () => {
  save('approver-1-7.json')
  save('profiles.json', '{}')
  expect(await read()).toEqual(keyFile)
})
test('without a terminal, one of two authenticators must be named, and the hint says whose they are', async () => {
  const first = save('approver-1-7.json', { ...keyFile, name: 'Ada Lovelace', organization: 'Acme\u001b[2J' })
  const other = save('approver-1-8.json', { ...keyFile, user_id: 8 })
  await expect(read()).rejects.toMatchObject({
    exit: 'usage',
    message: 'Found 2 software authenticators: choose one with --authenticator',
    hint: [
      `svc approve inbox --authenticator ${first}   Ada Lovelace (user 7) in Acme\\u{001b}[2J`,
      `svc approve inbox --authenticator ${other}   user 8 in organization 1`,
    ].join('\n      '),
  })
  expect((await read(other)).user_id).toBe(8)
})
test('on a terminal, svc asks whose authenticator to use', async () => {
  save('approver-1-7.json', { ...keyFile, name: 'Ada Lovelace', organization: 'Acme' })
  save('approver-1-8.json', { ...keyFile, user_id: 8, name: 'Bob Byrd', organization: 'Acme' })
  const context = contextOf()
  const asked: unknown[] = []
  context.prompt = async () =>
    ({
      select: async (question: string, choices: readonly string[]) => {
        asked.push(question, choices)
        return choices[1]!
      },
    }) as never
  expect((await chooseKeyFile(undefined, context)).user_id).toBe(8)
  expect(asked).toEqual([
    'Whose software authenticator?',
    ['Ada Lovelace (user 7) in Acme, approver-1-7.json', 'Bob Byrd (user 8) in Acme, approver-1-8.json'],
  ])
})
test('a missing authenticator is an error that explains how to create one', async () => {
  await expect(read()).rejects.toMatchObject({ hint: expect.stringContaining('--software') })
  await expect(read('gone.json')).rejects.toThrow(/File/)
})
test('an authenticator that others can read is rejected, with the command that corrects it', async () => {
  const path = save('approver-1-7.json')
  chmodSync(path, 0o644)
  await expect(read()).rejects.toMatchObject({ hint: `chmod 600 '${path}'` })
})
test('a link is rejected', async () => {
  symlinkSync(save('real.json'), join(folder.path, 'link.json'))
  await expect(read('link.json')).rejects.toThrow(/authenticator .* is a symbolic link/)
})
test.each(['', '{}', 'null', '[1]', '{"version":1}', JSON.stringify({ ...keyFile, key: {} })])(
  '%j is not an authenticator',
  async (content) => {
    await expect(read(save('odd.json', content))).rejects.toMatchObject({ code: 'authenticator_file' })
  },
)
