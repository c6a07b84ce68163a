import { expect, onTestFinished, test } from 'vitest'
import { outcome, startSvc, svc } from '../e2e/processes.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { flaws } from './page-flaws.ts'
import { startLogin } from './page-login.ts'
import { installHooks, open, stage } from './open-stage.ts'

// A person signs in on a terminal with the browser of this machine.

installHooks()

test('a member signs in with the browser, asks from the terminal, and ends it on the page', async () => {
  const user = await stage.person()
  const phone = await stage.enrolled(user)
  const { env, ended, address } = await startLogin()
  await phone.page.goto(address)
  await phone.sees('Allow this access?')
  await phone.page.getByText('svc on a machine that says it is').waitFor()
  expect(await flaws(phone)).toEqual([])
  await phone.tap('Allow')
  await phone.page.getByText('You can close this page and go back to the terminal.').waitFor()
  const { exit, stdout } = await ended
  expect([exit, stdout]).toEqual([0, expect.stringContaining('profile mine can ask')])
  const asks = (...args: string[]) => svc([...args, '--profile', 'mine'], env)
  expect((await asks('approve', 'list')).exit).toBe(0)
  await phone.page.goto(`${stage.origin}/approver#agents`)
  await phone.sees('Agents and terminals')
  await phone.page.getByRole('button', { name: /^Disconnect svc on / }).click()
  await phone.page.getByRole('status').getByText('is disconnected.').waitFor()
  expect((await asks('approve', 'list')).exit).toBe(4)
})

test('a person who did not type the command denies it', async () => {
  const phone = await stage.enrolled(await stage.person())
  const { ended, address } = await startLogin()
  await phone.page.goto(address)
  await phone.tap('Deny')
  const { exit, stderr } = await ended
  expect([exit, stderr]).toEqual([6, expect.stringContaining('Not signed in: The person did not consent')])
})

test('a terminal without a browser is signed in with the code that it shows', async () => {
  const user = await stage.person({ role: 'admin' })
  const phone = await stage.enrolled(user)
  const folder = temporaryFolder()
  onTestFinished(() => folder.remove())
  const child = startSvc(['profile', 'login', 'mine', '--device', '--base-url', stage.baseUrl], {
    SVC_CONFIG_DIR: `${folder.path}/config`,
  })
  const ended = outcome(child)
  let said = ''
  for await (const part of child.stderr!) {
    said += String(part)
    if (said.includes('Waiting')) break
  }
  const [, code = ''] = /^ {2}(\S{4}-\S{4})$/m.exec(said) ?? []
  await phone.page.goto(`${stage.origin}/approver#agents`)
  await phone.page.getByLabel('Code that a terminal shows').fill('bcdf-bcdf')
  await phone.tap('Continue')
  await phone.page.getByRole('alert').getByText('No terminal waits with this code.').waitFor()
  await phone.page.getByLabel('Code that a terminal shows').fill(code.toLowerCase())
  await phone.tap('Continue')
  await phone.sees('Allow this access?')
  await phone.page.getByText('It waits on another machine').waitFor()
  await phone.page.getByText('It can also read what you can read in').waitFor()
  expect(await flaws(phone)).toEqual([])
  await phone.tap('Allow')
  await phone.sees('You’re signed in')
  const { request_id } = await stage.ask(user, { action: 'Deploy 4.2' })
  await phone.tap('All requests')
  await open(phone, request_id)
  const { exit, stdout } = await ended
  expect([exit, stdout]).toEqual([0, expect.stringContaining('profile mine can ask')])
})
