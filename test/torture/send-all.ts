const workers = 8

type Sent = { failures: number; hits: Record<string, number>; examples: string[] }

/** Sends every input, a few at a time. `problemOf` returns what is wrong, and may count further hits. */
export const sendAll = async <T extends { kind: string }>(
  inputs: readonly T[],
  problemOf: (input: T, count: (what: string) => void) => Promise<string | undefined>,
  show: (input: T) => string,
): Promise<Sent> => {
  const hits: Record<string, number> = {}
  const examples: string[] = []
  let failures = 0
  let next = 0
  const count = (what: string): void => void (hits[what] = (hits[what] ?? 0) + 1)
  const work = async (): Promise<void> => {
    for (let input = inputs[next++]; input; input = inputs[next++]) {
      const problem = await problemOf(input, count).catch((error: unknown) => `no answer: ${String(error)}`)
      count(input.kind)
      if (!problem) continue
      failures++
      if (examples.length < 8) examples.push(`${input.kind}: ${problem} ${show(input)}`)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  return { failures, hits, examples }
}
