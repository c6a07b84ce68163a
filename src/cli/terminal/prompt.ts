/** What is chosen, and what a person reads. */
export type Choice = { value: string; name: string }

export type Prompt = {
  text(
    question: string,
    options?: {
      example?: string
      /** What the line holds at first, to be corrected. */
      initial?: string
      validate?(value: string): true | string | Promise<true | string>
    },
  ): Promise<string>
  /** Not echoed. */
  secret(
    question: string,
    options?: { validate?(value: string): true | string | Promise<true | string> },
  ): Promise<string>
  /** Default No. */
  confirm(question: string): Promise<boolean>
  select(question: string, choices: readonly string[]): Promise<string>
  /** One or more of the choices, ticked off. */
  tick(question: string, choices: readonly Choice[]): Promise<string[]>
  /** As `select`; undefined, and nothing left on the screen, when `signal` says that the choices are no longer right. */
  selectUntil(question: string, choices: readonly Choice[], signal: AbortSignal): Promise<string | undefined>
}
