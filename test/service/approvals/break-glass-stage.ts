import { beforeEach } from 'vitest'
import { createMember, dataOf } from '../fixtures.ts'
import type { Answer } from '../harness.ts'
import { acme, ada, installHooks as installService, service } from '../mcp/oauth-stage.ts'
import { signIn } from '../mcp/terminal-stage.ts'
import { createPhone, enrollPhone, type Phone } from '../page/phone.ts'
import { at } from '../rule-fixture.ts'
import { command } from './command-subject.ts'

export { acme, ada, clock, service } from '../mcp/oauth-stage.ts'

/** Two of the database team, whom the rule asks, and two on call, of whom Ada is one. Grace is the administrator. */
export let bob: Phone
export let carol: Phone
export let dave: Phone
export let grace: Phone
/** With this key, Ada asks from her terminal. */
export let asks: string

export const destroy = command('terraform', 'destroy')
export const reason = 'prod down, INC-77'

export const addRule = async (rule: object): Promise<void> =>
  void dataOf(await service.call('POST', at(acme.id, 'rules'), { body: rule }))

export const addGroup = async (name: string, members: string[]): Promise<void> =>
  void dataOf(await service.call('POST', at(acme.id, 'groups'), { body: { name, members } }))

/** As Ada, unless another key asks. */
export const breakGlass = (more: object = {}, key = asks): Promise<Answer> =>
  service.call('POST', '/svc/v1/approvals', { key, body: { subject: destroy, break_glass: reason, ...more } })

export const terminalOf = async (phone: Phone): Promise<string> => (await signIn(phone)).access_token

export const installHooks = (): void => {
  installService()
  beforeEach(async () => {
    bob = await createPhone(service, acme.id, 2)
    carol = await createPhone(service, acme.id, 3)
    dave = await createPhone(service, acme.id, 4)
    grace = await enrollPhone(service, acme.id, await createMember(service, acme.id, 5, { role: 'admin' }))
    await addGroup('dba', [bob.user, carol.user])
    await addGroup('oncall', [ada.user, dave.user])
    await addRule({
      name: 'destroy',
      match: { type: 'command', argv: ['terraform', '**'] },
      who: ['@dba'],
      break_glass: '@oncall',
      use_within_s: 3600,
    })
    asks = await terminalOf(ada)
  })
}
