/** An answer of 200 as it goes out. */
export type Kept = { text: string; headers: Record<string, string> }

// Anybody with a key can ask for much, under many addresses.
const maxText = 64 * 1024
const maxTogether = 4 * 1024 * 1024

/**
 * Answers of reads, in memory, until the next commit, whatever that changes: `revision` tells. `name` must say all that
 * an answer depends on besides the store.
 */
export const createResponseCache = (revision: () => number) => {
  const answers = new Map<string, Kept>()
  let characters = 0
  let keptAt = -1

  const forget = (): void => {
    answers.clear()
    characters = 0
  }

  const current = (): number => {
    const now = revision()
    if (now !== keptAt) forget()
    keptAt = now
    return now
  }

  return {
    find: (name: string): Kept | undefined => {
      current()
      return answers.get(name)
    },
    /** `since` is the revision before the store was read. */
    keep: (name: string, since: number, kept: Kept): void => {
      const more = name.length + kept.text.length
      if (since !== current() || more > maxText) return
      if (characters + more > maxTogether) forget()
      characters += more
      answers.set(name, kept)
    },
  }
}
export type ResponseCache = ReturnType<typeof createResponseCache>
