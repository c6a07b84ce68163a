// Preloaded into a node: shifts its clock by CLOCK_SHIFT_MS. The monotonic clock stays as it is.
const shift = Number(process.env.CLOCK_SHIFT_MS)
const RealDate = Date
const now = () => RealDate.now() + shift
globalThis.Date = class Date extends RealDate {
  constructor(...parts) {
    if (parts.length === 0) super(now())
    else super(...parts)
  }
  static now() {
    return now()
  }
}
