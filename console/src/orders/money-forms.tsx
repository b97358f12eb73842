import { type Answered, api, bodyOf, type components } from '../api/client.ts'
import { ApiFailure } from '../api/failure.ts'
import { decimalsOf, decimalText, parseAmount } from '../parts/amounts.ts'
import { FormButton, fieldOf } from '../parts/form-dialog.tsx'
import { moneyText } from '../parts/text.tsx'
import type { Details, Order } from './order.ts'

/** A payment or a refund, as it is recorded. */
type Moved = components['schemas']['Payment'] | components['schemas']['Refund']

const CHANGES = ['orders', 'deliveries']

/** The amount of the form in minor units. Throws what is wrong with it. */
function amountOf(form: FormData, currency: string, most?: number): number {
  const amount = parseAmount(fieldOf(form, 'amount'), currency)
  if (amount === undefined || amount === 0) {
    const example = decimalText(1250 * 10 ** Math.max(0, decimalsOf(currency) - 2), currency)
    throw new Error(
      `Write the amount in ${currency} as digits, with a point before at most ${decimalsOf(currency)} decimals: ${example}.`,
    )
  }
  if (most !== undefined && amount > most) throw new Error(`The amount can be ${moneyText(most, currency)} at most.`)
  return amount
}

/** What payments and refunds have in common. */
const moneyOf = (form: FormData, currency: string, once: string, most?: number) => ({
  amount: amountOf(form, currency, most),
  currency,
  reference: fieldOf(form, 'reference') || once,
})

/** What is recorded now. Under a reference that is taken the API answers what was recorded before (OP-142). */
async function recorded<Data>(answer: Promise<Answered<Data>>): Promise<Data> {
  const body = await bodyOf(answer)
  if ((await answer).response.status === 200) {
    const message =
      'Nothing is added: this reference and amount are recorded already. Give another one its own reference.'
    throw new ApiFailure(409, 'conflict', message)
  }
  return body
}

const Amount = ({ currency, initial }: { readonly currency: string; readonly initial: number }) => (
  <label>
    Amount in {currency}
    <input name="amount" inputMode="decimal" autoComplete="off" defaultValue={decimalText(initial, currency)} />
  </label>
)

const Reference = ({ of }: { readonly of: string }) => (
  <label>
    Reference
    <input
      name="reference"
      maxLength={255}
      autoComplete="off"
      placeholder={`the id of the ${of} at your provider, or leave it empty`}
    />
  </label>
)

interface MoneyProps {
  readonly order: Order
  readonly details: Details
}

/** Records money that came in. */
export const RecordPayment = ({ order: { id, currency }, details }: MoneyProps) => (
  <FormButton
    shown={details.payments}
    needs="sale::create"
    title="Record a payment"
    className="primary"
    submit="Record the payment"
    done={({ amount }: Moved) => `A payment of ${moneyText(amount, currency)} is recorded.`}
    changes={CHANGES}
    send={async (form, once) => {
      const provider = fieldOf(form, 'provider')
      const body = { ...moneyOf(form, currency, once), ...(provider !== '' && { provider }) }
      return recorded(api.POST('/v1/orders/{id}/payments', { params: { path: { id } }, body }))
    }}
  >
    <p>
      {moneyText(details.balance.open, currency)} are still to be paid. This records what came in; no money moves by it.
    </p>
    <Amount currency={currency} initial={details.balance.open} />
    <label>
      Paid by
      <input name="provider" maxLength={255} autoComplete="off" placeholder="cash, bank transfer, …" />
    </label>
    <Reference of="payment" />
  </FormButton>
)

/** Records money that was given back: of one payment, or of the order as a whole. */
export function Refund({ order: { id, currency }, details }: MoneyProps) {
  const { balance, payments } = details
  const left = balance.paid - balance.refunded
  return (
    <FormButton
      shown={details.refunds}
      needs="sale::create"
      title="Refund"
      submit="Record the refund"
      done={({ amount }: Moved) => `A refund of ${moneyText(amount, currency)} is recorded.`}
      changes={CHANGES}
      send={async (form, once) => {
        const [payment, reason] = [fieldOf(form, 'payment'), fieldOf(form, 'reason')]
        const body = {
          ...moneyOf(form, currency, once, left),
          ...(payment !== '' && { payment }),
          ...(reason !== '' && { reason }),
        }
        return recorded(api.POST('/v1/orders/{id}/refunds', { params: { path: { id } }, body }))
      }}
    >
      <p>
        {moneyText(left, currency)} can be refunded. This records what you gave back; send the money with your payment
        provider.
      </p>
      <Amount currency={currency} initial={left} />
      {payments.length > 1 && (
        <label>
          Of the payment
          <select name="payment">
            <option value="">any</option>
            {payments.map(({ id: payment, amount, provider, reference }) => (
              <option key={payment} value={payment}>
                {moneyText(amount, currency)} {provider ?? ''} {reference.slice(0, 40)}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        Reason
        <input name="reason" maxLength={255} autoComplete="off" />
      </label>
      <Reference of="refund" />
    </FormButton>
  )
}
