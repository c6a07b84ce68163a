import type { Context } from '../../context/context.ts'
import { createStore } from '../../context/profile-store.ts'

const chooses = (name: string): boolean => /^(?:SVC_|MCP_AUTH_TOKEN$)/.test(name) && name !== 'SVC_CONFIG_DIR'

/**
 * An agent starts the gate, so neither its variables nor a .svcrc in its folder may choose the service, the key or the approver:
 * only flags, the profile and the rules do. Returns the variables that are set and not used.
 */
export const ignoreSurroundings = (context: Context): string[] => {
  const { io, globals } = context
  const ignored = Object.keys(io.env).filter((name) => chooses(name) && io.env[name])
  io.env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !chooses(name)))
  const { current, profiles } = createStore(io).read()
  const names = Object.keys(profiles)
  if (names.length > 0) globals.profile ??= current ?? 'default'
  return ignored
}
