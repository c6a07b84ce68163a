/** A credential as the service verified it: `key "ci"`. Nothing in the name ends the quotes. */
export const credentialText = (kind: 'key' | 'agent', name: string): string =>
  `${kind} ${JSON.stringify(name)}`
