import type { Storage } from '../storage/storage.ts'
import type { WakeTarget } from './service.ts'

/** What a node tells the others. A message may be lost, so everything also happens without it, only later. */
export type NodeMessages = {
  /** A commit that somebody may wait for. */
  wake: WakeTarget
  /** Messages of this node may have been lost. */
  lost: true
  /** A hash that names the tool call that its client cancelled. */
  cancel: string
  /** The requests that each caller and organization made since the last message. */
  requests: Record<string, number>
}

export const tellNodes = <K extends keyof NodeMessages>(
  { publish }: Pick<Storage, 'publish'>,
  kind: K,
  value: NodeMessages[K],
): void => publish(JSON.stringify({ [kind]: value }))

/** Calls `receive` for each message of a kind from another node. */
export const hearNodes = <K extends keyof NodeMessages>(
  { subscribe }: Pick<Storage, 'subscribe'>,
  kind: K,
  receive: (value: NodeMessages[K]) => void,
): void =>
  subscribe((text) => {
    if (text === undefined) return
    const value = (JSON.parse(text) as Partial<NodeMessages>)[kind]
    if (value !== undefined) receive(value as NodeMessages[K])
  })
