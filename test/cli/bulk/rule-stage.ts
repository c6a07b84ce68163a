import { expect } from 'vitest'
import { createApprover, decide } from '../../service/approver.ts'
import { dataOf } from '../../service/fixtures.ts'
import { holdCalls } from '../../service/rule-fixture.ts'
import { openStage, type Stage } from './stage.ts'

/** A stage with a rule that asks Ada about these commands. `prepare` runs before there is the rule. */
export const openRuleStage = async (
  held: string[],
  prepare: (service: Stage['service']) => Promise<unknown> = async () => undefined,
) => {
  const stage = await openStage({ dev: true })
  const { service } = stage
  const ada = await createApprover(service, 1, 1)
  await prepare(service)
  await holdCalls(service, 1, held, [ada.id])
  const asked = service.notified.length
  const requests = (): string[] => service.notified.slice(asked).map(({ request_id }) => request_id)
  let ended: Awaited<ReturnType<Stage['svc']>> | undefined
  const svc: Stage['svc'] = (...command) => {
    ended = undefined
    const running = stage.svc(...command)
    void running.then((one) => (ended = one))
    return running
  }
  /** Answers the next request of the command that runs. */
  const answer = async (decision: 'approve' | 'deny' = 'approve'): Promise<string> => {
    const before = requests().length
    const asks = (): boolean => requests().length > before
    await expect.poll(() => asks() || ended !== undefined).toBe(true)
    expect({ asks: asks(), ended }).toEqual({ asks: true, ended: undefined })
    const id = requests().at(-1)!
    dataOf(await decide(service, id, ada.key, { decision }))
    return id
  }
  return { ...stage, svc, requests, answer }
}

export type RuleStage = Awaited<ReturnType<typeof openRuleStage>>
