import type { Command } from 'commander'

const scopes = new WeakMap<Command, string>()

/** Says in the help of a command, and in what is made from the tree, which scope its key needs: `ask or read`. */
export const noteScope = (command: Command, scope: string): void => {
  scopes.set(command, scope)
  command.addHelpText('after', `\nScope of the key: ${scope}`)
}

export const scopeOf = (command: Command): string | undefined => scopes.get(command)
