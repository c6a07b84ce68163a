import type { GuardConfig } from './config.ts'

/** What to paste, and where. */
export type Lines = { file: string; lines: string[] }

const linesIf = (section: object | undefined, file: string, lines: string[]): Lines[] =>
  section ? [{ file, lines }] : []

/** The lines that start each guard of the configuration, with a clean environment and without a flag of the caller. */
export const linesFor = (config: Pick<GuardConfig, 'exec' | 'ssh' | 'git'>, launcher: string): Lines[] => [
  ...linesIf(config.exec, '/etc/sudoers.d/svc-guard (with visudo -f)', [
    `Cmnd_Alias SVC_GUARD = ${launcher} exec -- *`,
    'Defaults!SVC_GUARD env_reset, !setenv',
    '%ops ALL = (root) NOPASSWD: SVC_GUARD',
  ]),
  ...linesIf(
    config.ssh,
    '/etc/ssh/authorized_keys/ACCOUNT (root-owned; AuthorizedKeysFile /etc/ssh/authorized_keys/%u)',
    [`restrict,pty,command="${launcher} ssh --as alice" ssh-ed25519 AAAA… alice`],
  ),
  ...linesIf(config.git, 'hooks/pre-receive of the repository (root-owned, mode 755)', [
    '#!/bin/sh',
    `exec ${launcher} git`,
  ]),
]
