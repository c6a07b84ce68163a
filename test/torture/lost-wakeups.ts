import { waitForEnd, readCurrent } from '../../src/service/approvals/current.ts'
import { createEngineGateway } from '../../src/service/approvals/engine-gateway.ts'
import type { Service } from '../../src/service/call/service.ts'
import { createSignals, requestTopic } from '../../src/service/call/signals/signals.ts'
import { createClock, minute } from '../service/clock.ts'
import { startTestService } from '../service/harness.ts'
import { below, createCrowd, turns } from './approvers.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 20
const people = 100
/** Seconds: more than a busy machine takes to wake a hundred waits. */
const patience = 10

type Wait = (service: Service, id: string) => Promise<unknown>

const everything = { orgId: null }
const rightWait: Wait = (service, id) => waitForEnd(service, id, everything, { seconds: patience })

/** The broken variant reads before it starts to listen. */
const wrongWait: Wait = async (service, id) => {
  const { status } = await readCurrent(service, id, everything)
  if (status !== 'pending') return
  const { woken, close } = service.signals.listen([requestTopic(id)])
  await Promise.race([woken, new Promise((resolve) => setTimeout(resolve, patience * 1000))])
  close()
}

/** Waits for and ends each request at about the same time. Late means that nothing but the end of its time ended a wait. */
const race = async (wait: Wait, times: number) => {
  const clock = createClock()
  const test = await startTestService({ dev: true, now: clock.now })
  const { service } = test
  // Without the polling fallback, which would hide a lost wake-up.
  service.signals = createSignals(test.storage)
  // Like over a network: a read is outdated when it arrives.
  const { storage } = service
  service.storage = {
    ...storage,
    read: async (work) => {
      const result = await storage.read(work)
      await turns(below(4))
      return result
    },
  }
  const hits = { 'waited before the end': 0, 'waited after the end': 0 }
  let late = 0
  try {
    const { caller, mobiles } = await createCrowd(test, people)
    const gateway = createEngineGateway(service, caller)
    const one = async (mobile: string): Promise<void> => {
      const { request_id } = await gateway.request({ action: 'x', approvers: [mobile] })
      let hasEnded = false
      const end = async (): Promise<void> => {
        await turns(below(12))
        await gateway.withdraw(request_id)
        hasEnded = true
      }
      const waiting = async (): Promise<void> => {
        await turns(below(12))
        hits[hasEnded ? 'waited after the end' : 'waited before the end']++
        const began = performance.now()
        await wait(service, request_id)
        if (performance.now() - began > patience * 1000 - 100) late++
      }
      await Promise.all([end(), waiting()])
    }
    for (let round = 0; round < times; round++) {
      await Promise.all(mobiles.map(one))
      clock.tick(11 * minute)
    }
    return { late, hits }
  } finally {
    await test.close()
  }
}

export const torture: Torture = {
  name: 'Lost wake-ups: waits that start while the request ends, without polling',
  must: '0 late',
  run: async (): Promise<Result> => {
    const { late, hits } = await race(rightWait, rounds)
    const control = await race(wrongWait, 3)
    return { count: rounds * people, failures: late, hits, control: control.late }
  },
}
