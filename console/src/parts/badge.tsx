type Tone = 'good' | 'bad' | 'busy' | 'plain'

const GOOD = [
  'DELIVERED',
  'ACTIVE',
  'PAID',
  'SUCCEEDED',
  'COMPLETED',
  'FULFILLED',
  'VALIDATED',
  'IN_STOCK',
  'READY',
  'DONE',
]
const BAD = [
  'FAILED',
  'FAILING',
  'DISABLED',
  'CANCELLED',
  'OUT_OF_STOCK',
  'REVOKED',
  'SUSPENDED',
  'DELETED',
  'SKIPPED',
  'INVALID',
]
const BUSY = [
  'PENDING',
  'RUNNING',
  'PROCESSING',
  'VALIDATING',
  'PARTIALLY_PAID',
  'PARTIALLY_REFUNDED',
  'PARTIAL',
  'UPLOADED',
  'IMPORTING',
  'COMPLETED_WITH_ERRORS',
  'PARTIALLY_FULFILLED',
]

const TONES = new Map<string, Tone>([
  ...GOOD.map((state) => [state, 'good'] as const),
  ...BAD.map((state) => [state, 'bad'] as const),
  ...BUSY.map((state) => [state, 'busy'] as const),
])

/** A state in words, coloured by how good it is. */
export function Badge({ state, tone }: { readonly state: string; readonly tone?: Tone }) {
  return (
    <span className={`badge ${tone ?? TONES.get(state) ?? 'plain'}`}>{state.toLowerCase().replaceAll('_', ' ')}</span>
  )
}
