/** Of each owner, such as a service, the values that were set last, by name. The oldest goes when there are more. */
export const createRecent = <N, V>(atMost: number) => {
  const all = new WeakMap<object, Map<N, V>>()
  return {
    get: (owner: object, name: N): V | undefined => all.get(owner)?.get(name),
    set: (owner: object, name: N, value: V): void => {
      const own = all.get(owner) ?? new Map<N, V>()
      own.delete(name)
      all.set(owner, own.set(name, value))
      if (own.size > atMost) own.delete(own.keys().next().value!)
    },
    delete: (owner: object, name: N): void => void all.get(owner)?.delete(name),
  }
}
