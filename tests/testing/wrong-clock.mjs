// Loaded before a program (`node --import`): the clock of its host is wrong by so many days.
import { basename } from 'node:path'

const DAY_MS = 24 * 60 * 60 * 1000
const { [basename(process.argv[1] ?? '', '.js')]: days = 0 } = JSON.parse(process.env.DAYS_WRONG ?? '{}')
const Right = Date
globalThis.Date = class extends Right {
  static now = () => Right.now() + days * DAY_MS
  constructor(...given) {
    super(...(given.length === 0 ? [Date.now()] : given))
  }
}
