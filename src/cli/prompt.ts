export type Prompt = {
  text(
    question: string,
    options?: { example?: string; validate?(value: string): true | string },
  ): Promise<string>
  /** Not echoed. */
  secret(question: string): Promise<string>
  /** Default No. */
  confirm(question: string): Promise<boolean>
  select(question: string, choices: readonly string[]): Promise<string>
}
