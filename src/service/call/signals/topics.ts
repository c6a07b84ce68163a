/** One who listens to topics. */
export type Listening = {
  /** Resolves when one of the topics changes. */
  readonly woken: Promise<void>
  close(): void
  /**
   * Reads what the first topic is about, together with the others who listen to it and read the same at this time. The read
   * began after the last change: each change begins a topic anew.
   */
  share<T>(name: string, read: () => Promise<T>): Promise<T>
}

type Topic = { listeners: Set<() => void>; reads: Map<string, Promise<unknown>> }

/** Who listens to what. `changed` is called when there are more or fewer listeners. */
export const createTopics = (changed: () => void = () => undefined) => {
  const all = new Map<string, Topic>()
  let count = 0
  let stopped = false

  const join = (name: string, listener: () => void): Topic => {
    const topic: Topic = all.get(name) ?? { listeners: new Set(), reads: new Map() }
    all.set(name, topic)
    topic.listeners.add(listener)
    count += 1
    return topic
  }

  const leave = (name: string, topic: Topic, listener: () => void): void => {
    if (all.get(name) !== topic || !topic.listeners.delete(listener)) return
    count -= 1
    if (topic.listeners.size === 0) all.delete(name)
  }

  const release = (name: string): void => {
    const topic = all.get(name)
    if (!topic) return
    all.delete(name)
    count -= topic.listeners.size
    for (const wake of topic.listeners) wake()
    changed()
  }

  return {
    listen: (names: readonly string[]): Listening => {
      let wake!: () => void
      const woken = new Promise<void>((resolve) => (wake = resolve))
      const joined = names.map((name) => [name, join(name, wake)] as const)
      const { reads } = joined[0]![1]
      if (stopped) wake()
      changed()
      return {
        woken,
        close: () => {
          for (const [name, topic] of joined) leave(name, topic, wake)
          changed()
        },
        share: <T>(name: string, read: () => Promise<T>) => {
          const reading = reads.get(name) ?? read().finally(() => reads.delete(name))
          reads.set(name, reading)
          return reading as Promise<T>
        },
      }
    },
    /** Wakes all who listen to it, once. */
    release,
    /** Wakes everybody, now and from now on. */
    stop: (): void => {
      stopped = true
      for (const name of all.keys()) release(name)
    },
    names: (): string[] => [...all.keys()],
    get count() {
      return count
    },
  }
}
