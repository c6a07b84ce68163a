import { PassThrough } from 'node:stream'

/** Milliseconds after Enter in which more input belongs to the same paste. Nobody types this fast. */
const pasteMs = 40

const enter = /\r\n?|\n/
/** Ctrl-C and Ctrl-D. */
// oxlint-disable-next-line no-control-regex
const leaving = /[\u0003\u0004]/

type Terminal = NodeJS.ReadableStream & { setRawMode?(on: boolean): unknown }

/**
 * The input of one prompt. An Enter that is followed by more input comes from a paste of several lines: `onSeveral` gets them,
 * and the prompt gets none of it. Otherwise the first line would be sent and the others lost, and a pasted "y" would confirm.
 */
export class LineInput extends PassThrough {
  readonly #source: Terminal
  readonly #onSeveral: (text: string) => void
  #held: Buffer | undefined
  #timer: NodeJS.Timeout | undefined
  #several = false
  #quiet: (() => void) | undefined

  constructor(source: Terminal, onSeveral: (text: string) => void) {
    super()
    this.#source = source
    this.#onSeveral = onSeveral
    // The prompt before paused it.
    source.on('data', this.#onData).once('end', this.#onEnd).resume()
  }

  setRawMode(on: boolean): this {
    this.#source.setRawMode?.(on)
    return this
  }

  /** Resolves when the paste is over. */
  async pasted(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#quiet = resolve
      this.#wait()
    })
  }

  close(): void {
    clearTimeout(this.#timer)
    this.#source.removeListener('data', this.#onData).removeListener('end', this.#onEnd)
    this.#source.pause()
  }

  readonly #onEnd = (): void => void this.end()

  #wait(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#quiet?.()
      if (this.#held && !this.#several) this.write(this.#held)
      this.#held = undefined
    }, pasteMs)
  }

  readonly #onData = (data: Buffer | string): void => {
    const chunk = Buffer.from(data)
    const text = chunk.toString('latin1')
    const key = leaving.exec(text)
    if (key) return void this.write(key[0])
    if (this.#several) return this.#wait()
    const found = enter.exec(text)
    const isLast = found !== null && found.index + found[0].length === text.length
    if (this.#held || (found && !isLast)) {
      this.#several = true
      this.#onSeveral(Buffer.concat([this.#held ?? Buffer.of(), chunk]).toString())
      return this.#wait()
    }
    if (!found) return void this.write(chunk)
    if (found.index > 0) this.write(chunk.subarray(0, found.index))
    this.#held = chunk.subarray(found.index)
    this.#wait()
  }
}
