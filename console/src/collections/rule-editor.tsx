import { useMutation } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { api, bodyOf, type Tagged } from '../api/client.ts'
import { ApiFailure, textOf } from '../api/failure.ts'
import { Act, counted, useAction } from '../parts/action.tsx'
import { Unsaved } from '../parts/dialog.tsx'
import { FormEnd, submitted } from '../parts/form-dialog.tsx'
import { Section } from '../parts/page.tsx'
import { type Collection, useCollections } from './collection.tsx'
import { ConditionRow } from './condition-row.tsx'
import { conditionOf, conditionText, haveSameRules, NEW_CONDITION, type Rules, type Typed, typedOf } from './rules.ts'

const MOST_CONDITIONS = 60

/** A condition in the form, with a key that it keeps when others go. */
interface Row {
  readonly key: number
  readonly typed: Typed
}

interface RuleEditorProps {
  readonly of: Tagged<Collection>
  readonly onClose: () => void
}

/** The form of rules. It shows what they would gather before they are saved. */
export function RuleEditor({ of, onClose }: RuleEditorProps) {
  const { one } = useCollections()
  const { id } = of.body
  const [base, setBase] = useState(of)
  const [theirs, setTheirs] = useState<Collection>()
  const add = useRef<HTMLButtonElement>(null)
  const [match, setMatch] = useState(of.body.rules?.match ?? 'all')
  const [rows, setRows] = useState<readonly Row[]>(() => rowsOf(of.body.rules))

  const rules = (): Rules => ({ match, conditions: rows.map(({ typed }) => conditionOf(typed)) })
  const preview = useMutation({
    mutationFn: async () => {
      const query = { limit: 10 }
      return bodyOf(api.POST('/v1/collections/preview', { params: { query }, body: { rules: rules() } }))
    },
  })
  async function save(): Promise<void> {
    const body = { membership_type: 'SMART' as const, rules: rules() }
    const put = (tag: string) =>
      bodyOf(
        api.PUT('/v1/collections/{handle}', { params: { path: { handle: id } }, headers: { 'if-match': tag }, body }),
      )
    try {
      await put(base.tag)
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status !== 412) throw error
      const now = await one(id)
      // An earlier try may have saved them whose answer was lost.
      if (haveSameRules(now.body, body)) return
      if (haveSameRules(now.body, base.body)) return void (await put(now.tag))
      setBase(now)
      setTheirs(now.body)
      throw new Error('Somebody else has changed the rules meanwhile. Nothing of yours is saved yet.')
    }
  }
  const saving = useAction(save, {
    done: 'The rules are saved.',
    changes: ['collections'],
    onDone: onClose,
    showsFailures: true,
  })
  const change = (next: { readonly match?: Rules['match']; readonly rows?: readonly Row[] }) => {
    setMatch(next.match ?? match)
    setRows(next.rows ?? rows)
    // It is of the rules before.
    preview.reset()
  }
  const remove = (key: number) => {
    change({ rows: rows.filter((row) => row.key !== key) })
    // The button that was pressed goes with the condition.
    add.current?.focus()
  }
  return (
    <Section title="Rules" isFocused>
      <Unsaved>
        <form onSubmit={submitted(() => saving.mutate())}>
          <label>
            Products of which
            <select
              name="match"
              value={match}
              onChange={({ target }) => change({ match: target.value === 'any' ? 'any' : 'all' })}
            >
              <option value="all">all of this is so</option>
              <option value="any">any of this is so</option>
            </select>
          </label>
          {rows.map(({ key, typed }, index) => (
            <ConditionRow
              key={key}
              number={index + 1}
              typed={typed}
              onChange={(typed) => change({ rows: rows.map((row) => (row.key === key ? { key, typed } : row)) })}
              onRemove={rows.length > 1 ? () => remove(key) : undefined}
            />
          ))}
          <div className="actions">
            <button
              ref={add}
              type="button"
              disabled={rows.length >= MOST_CONDITIONS}
              onClick={() =>
                change({ rows: [...rows, { key: Math.max(...rows.map(({ key }) => key)) + 1, typed: NEW_CONDITION }] })
              }
            >
              Add a condition
            </button>
          </div>
          {theirs && (
            <Theirs
              of={theirs}
              onTake={(rules) => {
                change({ match: rules.match, rows: rowsOf(rules) })
                setTheirs(undefined)
                saving.reset()
              }}
            />
          )}
          <FormEnd
            submit={theirs ? 'Save mine' : 'Save rules'}
            isBusy={saving.isPending}
            refusal={saving.error}
            onClose={onClose}
          >
            <Act needs="product::create" isBusy={preview.isPending} onAct={() => preview.mutate()}>
              Preview
            </Act>
          </FormEnd>
        </form>
      </Unsaved>
      <div aria-live="polite">
        {preview.isError && <p className="notice bad">{textOf(preview.error)}</p>}
        {preview.data && (
          <>
            <p>
              <strong>These rules gather {counted(preview.data.total, 'product')} now.</strong>
            </p>
            <ul>
              {preview.data.items.map((product) => (
                <li key={product.id} className="long">
                  {product.name}
                </li>
              ))}
            </ul>
            {preview.data.has_next_page && <p className="quiet">These are the newest of them.</p>}
          </>
        )}
      </div>
    </Section>
  )
}

interface TheirsProps {
  readonly of: Collection
  readonly onTake: (rules: Rules) => void
}

/** How somebody else gathers the products by now. Cancel leaves it at that, too. */
const Theirs = ({ of: { membership_type, rules }, onTake }: TheirsProps) => (
  <div className="notice" role="alert">
    {membership_type === 'SMART' && rules ? (
      <>
        <strong>The rules of somebody else are now:</strong>
        <ul>
          {rules.conditions.map((condition) => (
            <li key={conditionText(condition)} className="long">
              {conditionText(condition)}
            </li>
          ))}
        </ul>
        <button type="button" onClick={() => onTake(rules)}>
          Take theirs
        </button>
      </>
    ) : (
      <strong>Somebody else has the products picked by hand now.</strong>
    )}
  </div>
)

const rowsOf = (rules: Rules | null | undefined): readonly Row[] =>
  (rules?.conditions.map(typedOf) ?? [NEW_CONDITION]).map((typed, key) => ({ key, typed }))
