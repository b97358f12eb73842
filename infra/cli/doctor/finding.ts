import type { AppManifest } from '@backoffice/contracts/app-manifest.ts'
import type { Answer } from './ask.ts'
import type { DoctorKey } from './doctor-keys.ts'
import type { InventedInstallation } from './sign.ts'

/** The result of checking one expectation of the platform. */
export interface Finding {
  /** In plain words: "refuses an expired token". */
  readonly expectation: string
  readonly result: 'pass' | 'fail' | 'skip'
  /** What the app answered. */
  readonly detail: string
}

/** The app, with an installation that the doctor invents. */
export interface Examined {
  readonly origin: string
  readonly manifest: AppManifest
  readonly installation: InventedInstallation
  readonly key: DoctorKey
}

const isSuccess = ({ status }: Answer) => status >= 200 && status < 300
/** 5xx is no refusal: the platform would try again. */
const isRefusal = ({ status }: Answer) => status >= 400 && status < 500

const judged = (expectation: string, isMet: boolean, detail: string): Finding => ({
  expectation,
  result: isMet ? 'pass' : 'fail',
  detail,
})

/** Expects 2xx. */
export const expectSuccess = (expectation: string, answer: Answer): Finding =>
  judged(expectation, isSuccess(answer), `${answer.text}, expected 2xx`)

/** Expects 4xx. */
export const expectRefusal = (expectation: string, answer: Answer): Finding =>
  judged(expectation, isRefusal(answer), `${answer.text}, expected 4xx`)

/** Expects 2xx or 4xx. */
export const expectEither = (expectation: string, answer: Answer): Finding =>
  judged(expectation, isSuccess(answer) || isRefusal(answer), `${answer.text}, expected 2xx or 4xx`)

/** Expects no `problem`. Otherwise its text is the detail. */
export const expectNothing = (expectation: string, problem: string | undefined): Finding =>
  judged(expectation, problem === undefined, problem ?? 'as expected')

export const skipped = (expectation: string, detail: string): Finding => ({ expectation, result: 'skip', detail })
