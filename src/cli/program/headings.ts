/** The headings of `svc --help`, in the order of a newcomer's day. */
export const headings: Readonly<Record<string, readonly string[]>> = {
  'Start here': ['demo', 'serve', 'profile', 'whoami', 'doctor'],
  'Request and decide': ['approve', 'grant', 'auth'],
  'People, keys and rules': ['org', 'user', 'key', 'group', 'rule', 'geofence', 'timeslot'],
  'Hold back agents and this machine': ['mcp', 'hook', 'guard'],
  'See what happens': ['top', 'audit', 'events', 'webhook', 'notify'],
  'An organization as a file': ['export', 'diff', 'apply'],
  'Operate the service': ['service'],
  'Apps and machines': ['mobile', 'iot'],
  'About svc': ['api', 'commands', 'completion', 'help'],
}
