/** The subject of a command in /srv/prod. */
export const command = (...argv: string[]) => ({
  type: 'command',
  data: {
    argv,
    cwd: '/srv/prod',
    executable: { path: `/usr/bin/${argv[0]}`, sha256: 'ab'.repeat(32) },
    files: [],
    environment: { passed: [], set: {} },
  },
})
