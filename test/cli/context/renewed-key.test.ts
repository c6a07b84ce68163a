import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createKeyReader, keySource } from '../../../src/cli/context/api-key.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { memoryIo } from '../memory-io.ts'

const origin = 'https://svc.example'
const keyOf = (letter: string): string => `svc_op_00000000_${letter.repeat(43)}`

/** The key of a running command when its key is refused, after another terminal has saved this sign-in. */
const keyAfter = async (saved: { person: string; api_key_origin: string }): Promise<string | undefined> => {
  const { path, remove } = temporaryFolder()
  onTestFinished(remove)
  const io = memoryIo({ env: { SVC_CONFIG_DIR: path } })
  const ada = { api_key: keyOf('a'), api_key_origin: origin, person: 'Ada Lovelace (user 1)' }
  const source = keySource({ io, globals: {} }, ada, 'mine')
  const read = createKeyReader(source, 'mine')
  expect(await read(`${origin}/x`)).toBe(keyOf('a'))
  const profiles = { mine: { ...saved, api_key: keyOf('b') } }
  writeFileSync(join(path, 'profiles.json'), JSON.stringify({ version: 1, profiles }), { mode: 0o600 })
  return read(`${origin}/x`, keyOf('a'))
}

test.each([
  ['renewed', 'Ada Lovelace (user 1)', origin, 'b'],
  ['of somebody else', 'Bob Byte (user 2)', origin, 'a'],
  ['of another service', 'Ada Lovelace (user 1)', 'https://other.example', 'a'],
])('a command goes on with the key of a sign-in that is %s: %s, %s', async (_, person, at, letter) => {
  expect(await keyAfter({ person, api_key_origin: at })).toBe(keyOf(letter))
})
