import { expect, test } from 'vitest'
import { tellGrantUses } from '../../../src/service/approvals/grant-notices.ts'
import { clock, service } from '../acme-with-ada.ts'
import { decide } from '../approver.ts'
import { day, second } from '../clock.ts'
import { asked, grace, granted, installHooks, pod } from './grant-stage.ts'

installHooks()

/** What a sweep tells, and whom. */
const told = async (): Promise<string[][]> => {
  const before = (await service.messages()).length
  await tellGrantUses(service.service)
  const sent = (await service.messages()).slice(before)
  return sent.map(({ to, text }) => [to, text.split('\n')[0]!])
}
const says = (count: string) =>
  `Since yesterday, ${count} approved by what you allowed before, and nobody was asked.`
const ofAda = 'user1@acme.example'

test('a day after the first use of a grant, its approver is told once how often theirs were used', async () => {
  await granted()
  await asked()
  clock.tick(second)
  await asked(pod('web-2'))
  clock.tick(day - second - 1)
  expect(await told()).toEqual([])
  clock.tick(1)
  expect(await told()).toEqual([[ofAda, says('2 requests were')]])
  clock.tick(day)
  expect(await told()).toEqual([])
})

test('each approver is told of their own grants, also when several sweeps run at once', async () => {
  await granted()
  for (const name of ['web-1', 'web-2']) await asked(pod(name))
  const { request_id } = await asked()
  await decide(service, request_id, grace.key, { decision: 'approve', grant: true })
  await asked()
  clock.tick(day)
  await Promise.all(Array.from({ length: 8 }, () => tellGrantUses(service.service)))
  const all = (await service.messages()).filter(({ kind }) => kind === 'grant')
  expect(all.map(({ to, subject, text }) => [to, subject, text.split('\n')[0]])).toEqual([
    [ofAda, 'acme: What you allowed was used', says('2 requests were')],
    ['user2@acme.example', 'acme: What you allowed was used', says('1 request was')],
  ])
})

test('a grant that nobody used is no reason for a notice', async () => {
  await granted()
  clock.tick(day)
  expect(await told()).toEqual([])
})
