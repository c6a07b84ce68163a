import type { Context } from './context.ts'

const chooses = (name: string): boolean => /^(?:SVC_|MCP_AUTH_TOKEN$)/.test(name) && name !== 'SVC_CONFIG_DIR'

/**
 * For what an agent starts, or a host that passes on the variables of a project: variables may not
 * choose the service, the key or the approver. Only flags and the profile do. `note` is told about variables that are not used.
 */
export const ignoreSurroundings = (context: Context, note?: (text: string) => void): void => {
  const { io } = context
  const ignored = Object.keys(io.env).filter((name) => chooses(name) && io.env[name])
  io.env = Object.fromEntries(Object.entries(io.env).filter(([name]) => !chooses(name)))
  if (ignored.length > 0)
    note?.(
      `${ignored.join(', ')} from the environment is not used; --profile, --base-url and --key-file choose the service and the key`,
    )
}
