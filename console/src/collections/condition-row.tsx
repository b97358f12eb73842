import { type Field, FieldInput } from '../parts/edit.tsx'
import { LOCAL_TIME } from '../parts/filters.tsx'
import {
  fieldOf,
  type Kind,
  localTime,
  operatorWords,
  RULE_FIELDS,
  type Typed,
  takesList,
  takesValue,
  withOperator,
} from './rules.ts'

interface ConditionRowProps {
  readonly number: number
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
  /** The last condition stays. */
  readonly onRemove: (() => void) | undefined
}

const TITLES = Object.entries(RULE_FIELDS).map(([name, { title }]) => [name, title] as const)
const INPUTS: { readonly [Of in Kind]?: NonNullable<Field['input']> } = { number: { type: 'number' }, time: LOCAL_TIME }
const FLAGS = [
  ['true', 'yes'],
  ['false', 'no'],
] as const

/** One condition: a field, how it is compared, and with what. */
export function ConditionRow({ number, typed, onChange, onRemove }: ConditionRowProps) {
  const { kind, operators, choices = kind === 'flag' ? FLAGS : undefined } = fieldOf(typed.field)
  const isList = takesList(typed.operator)
  const chooseField = (field: string) => {
    const next = fieldOf(field)
    const operator = next.operators.includes(typed.operator) ? typed.operator : 'eq'
    onChange({ ...withOperator(typed, operator), field, ...(next.kind !== kind && { value: '' }) })
  }
  const input = (name: 'field' | 'currency' | 'operator' | 'value', label: string) => ({
    field: { name, label, value: typed[name], input: { required: true } },
    text: typed[name],
    onText: (text: string) => onChange({ ...typed, [name]: text }),
  })
  const what = input('field', 'What')
  const currency = input('currency', 'Currency')
  const how = input('operator', 'How')
  const value = input('value', isList ? 'Values, one a line' : 'Value')
  const howOptions = operators.map((operator) => [operator, operatorWords(kind, operator)] as const)
  return (
    <fieldset className="condition">
      <legend>Condition {number}</legend>
      <FieldInput {...what} field={{ ...what.field, options: TITLES }} onText={chooseField} />
      {kind === 'money' && (
        <FieldInput
          {...currency}
          field={{ ...currency.field, input: { required: true, maxLength: 3, placeholder: 'EUR' } }}
        />
      )}
      <FieldInput
        {...how}
        field={{ ...how.field, options: howOptions }}
        onText={(operator) => onChange(withOperator(typed, operator))}
      />
      {takesValue(typed.operator) && (
        <FieldInput
          {...value}
          {...(kind === 'time' && !isList && { text: localTime(typed.value) })}
          field={{
            ...value.field,
            ...(isList && { isLong: true }),
            ...(!isList && choices && { options: [['', 'choose'], ...choices] }),
            input: { required: true, maxLength: isList ? 100_000 : 255, ...INPUTS[kind] },
          }}
        />
      )}
      {onRemove && (
        <button type="button" onClick={onRemove} aria-label={`Remove condition ${number}`}>
          Remove
        </button>
      )}
    </fieldset>
  )
}
