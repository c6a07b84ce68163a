export type Source = 'flag' | 'environment' | '.svcrc' | 'profile' | 'default'
/** `from`: the flag, the variable, the .svcrc or the profile file that says it. */
export type Setting<T = string> = { value: T; source: Source; from?: string }

/** What holds for this command, each value with where it came from. Absent where nothing says it. */
export type Settings = {
  profile: Setting
  baseUrl: Setting
  mcpUrl?: Setting
  /**
   * The profile's own tool server, where `mcpUrl` is absent because a flag or the environment names another service: only
   * somebody who says so, with --mcp, asks through it.
   */
  otherMcpUrl?: Setting
  org?: Setting
  defaultMobile?: Setting
  defaultFactors?: Setting
  requestFrom?: Setting
  cacert?: Setting
  /** Deletes want the name typed. */
  protected: boolean
  /** The commands that a person approves before svc goes on, in words: `org delete`, or a whole group: `org`. */
  requireApproval: readonly string[]
  /**
   * Whether svc may ask through `/verify-user` where the service has no approvals. `untested`: the profile says so, and
   * `svc doctor` has not tested this very address.
   */
  verifyFallback: 'off' | 'untested' | 'on'
  /** Whom the profile itself names for that: the environment cannot choose somebody else. */
  approver?: string
  /**
   * The REST key, read when asked for (a prompt, file or command may stand behind it). Fails with an SvcError when
   * it was saved for another origin than `url`, or when `url` is plain http to a host that is not loopback.
   */
  apiKey(url: string): Promise<string | undefined>
  /** What to do where there is no REST key, or the service does not accept it. */
  keyHint: string
  /** The key that asks people for approvals, under the same rules; absent where the REST key does that too. */
  askKey?(url: string): Promise<string | undefined>
  /** What to do where the service does not accept it. */
  askKeyHint: string
  /** The bearer of the approval tool server: another secret, under the same rules. */
  bearer(url: string): Promise<string | undefined>
}
