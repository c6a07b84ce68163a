import { fileURLToPath } from 'node:url'
import { beginWaits, startDefault } from '../e2e/default-start.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import type { Result, Torture } from './torture.ts'

const rounds = 20
const controls = 2
const signals = ['SIGTERM', 'SIGINT'] as const

/** Like a library that listens to signals: ends the process while requests are pending. */
const breaking = fileURLToPath(new URL('breaks-off.cjs', import.meta.url))

const stopOne = async (round: number, preload?: string): Promise<{ wrong: string[]; answered: number }> => {
  const folder = temporaryFolder()
  const signal = signals[round % signals.length]!
  const service = await startDefault(folder.path, preload)
  try {
    const answers = Promise.allSettled(await beginWaits(service, 1))
    service.kill(signal)
    const exit = await service.ended
    const answered = (await answers).filter(
      (answer) => answer.status === 'fulfilled' && answer.value.status === 200,
    ).length
    const wrong = exit === 0 && answered === 3 ? [] : [`${signal}: exit ${exit}, ${answered} of 3 answered`]
    return { wrong, answered }
  } finally {
    service.kill('SIGKILL')
    folder.remove()
  }
}

export const torture: Torture = {
  name: 'SIGTERM and SIGINT to a default svc serve while requests are pending',
  must: '0 that exit with another code than 0 or leave a wait unanswered',
  run: async (): Promise<Result> => {
    const examples: string[] = []
    let answered = 0
    for (let round = 0; round < rounds; round++) {
      const one = await stopOne(round)
      examples.push(...one.wrong)
      answered += one.answered
    }
    let control = 0
    for (let round = 0; round < controls; round++) control += (await stopOne(round, breaking)).wrong.length
    return {
      count: rounds,
      failures: examples.length,
      hits: { signals: rounds, 'waits answered': answered },
      control,
      examples: examples.slice(0, 5),
    }
  },
}
