import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { startService, type RunningService } from '../../../src/service/lifecycle/serve.ts'
import { commandWords } from '../../command-words.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { svc } from '../svc.ts'

// A person loses the key file, and types what svc prints until the new one can approve.

let dir: string
let remove: () => void
let service: RunningService
beforeEach(async () => {
  ;({ path: dir, remove } = temporaryFolder())
  const at = { host: '127.0.0.1', port: 0, dataDir: join(dir, 'data'), env: {}, log: () => undefined }
  service = await startService({ ...at, dev: true })
  await run('org create --name Acme --slug acme')
  await addUser('Ada', 1)
  await run('user enroll 1 --org acme --software')
})
afterEach(async () => {
  await service.stop()
  remove()
})

const run = (line: string | string[]) =>
  svc(line, {
    cwd: dir,
    env: {
      SVC_BASE_URL: service.baseUrl,
      SVC_API_KEY: service.operatorKey!,
      SVC_CONFIG_DIR: join(dir, 'config'),
    },
    now: () => new Date(),
  })
const addUser = (name: string, n: number) =>
  run(
    `user create --org acme --role admin --first-name ${name} --last-name L --email ${name}@acme.example --country-code +1 --mobile 202555010${n}`,
  )
const keyFile = () => join(dir, 'config', 'approver-1-1.json')
/** The commands in a text, in their order. */
const commandsIn = (text: string): string[] =>
  [...text.matchAll(/svc user devices \w+ \d+ --org \d+(?: --comparison-code \d+)?/g)].map(
    ([command]) => command,
  )
const follow = async (text: string): Promise<string[]> => {
  const commands = commandsIn(text)
  for (const command of commands) {
    const words = commandWords(command.slice(4))
    // On a terminal it asks.
    const { exit, err } = await run([...words, '--yes'])
    expect([command, exit, err]).toEqual([command, 0, err])
  }
  return commands
}
const canApprove = async (): Promise<boolean> => {
  const { request_id } = (await run('approve submit deploy --to +12025550101 --requester ci -o json')).data()
  return (await run(`approve inbox --authenticator ${keyFile()} --approve ${request_id}`)).exit === 0
}

test('the notice after the next enrollment leads to a key that can approve', async () => {
  rmSync(keyFile())
  const { err } = await run('user enroll 1 --org acme --software')
  expect(await follow(err)).toEqual([
    'svc user devices revoke 1 --org 1',
    expect.stringMatching(/^svc user devices approve 2 --org 1 --comparison-code \d{6}$/),
  ])
  expect(await canApprove()).toBe(true)
})

test('a device that was revoked first leads there too, also if the other administrators have only software keys', async () => {
  await addUser('Bob', 2)
  await run('user enroll 2 --org acme --software')
  await run('user devices revoke 1 --org acme --yes')
  const full = await run('user enroll 1 --org acme --software')
  expect([full.exit, full.message]).toEqual([2, `${keyFile()} already exists and is not overwritten`])
  expect(full.hint).toBe(`If the device of this key is lost: rm '${keyFile()}', and run the command again`)
  rmSync(keyFile())
  const { err } = await run('user enroll 1 --org acme --software')
  expect(await follow(err)).toEqual([
    expect.stringMatching(/^svc user devices approve 3 --org 1 --comparison-code \d{6}$/),
  ])
  expect(await canApprove()).toBe(true)
})

test('a device that waits for another one names the commands with their ids', async () => {
  rmSync(keyFile())
  await run('user enroll 1 --org acme --software')
  const { comparison_code: digits } = (await run('user devices list 1 --org acme -o json')).data()[1]
  const { hint } = await run(`user devices approve 2 --org acme --yes --comparison-code ${digits}`)
  expect(hint).toBe(
    'Approve it on the approver page of another device of the user. If they are lost, revoke them: svc user devices list 1 --org acme shows their ids',
  )
  expect(existsSync(keyFile())).toBe(true)
})

test('a key of a revoked device names the command that creates another one', async () => {
  await addUser('Bob', 2)
  await run('user enroll 2 --org acme --software')
  const { request_id } = (await run('approve submit deploy --to +12025550102 --requester ci -o json')).data()
  const { hint } = await run(`approve inbox --authenticator ${keyFile()} --approve ${request_id}`)
  expect(hint).toBe('Nothing was signed')
  const own = (await run('approve submit deploy --to +12025550101 --requester ci -o json')).data()
  rmSync(keyFile())
  await run('user enroll 1 --org acme --software')
  const pending = await run(`approve inbox --authenticator ${keyFile()} --approve ${own.request_id}`)
  expect(pending.hint).toBe(
    'Check whether its device is active: svc user devices list 1 --org 1. If it is revoked: svc user enroll 1 --org 1 --software --file NAME',
  )
})
