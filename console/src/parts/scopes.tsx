import { useState } from 'react'
import { ACTIONS, RESOURCES } from '../../../libs/contracts/src/scopes.ts'

/** What a key or an app may do. */
export function Scopes({ of: scopes }: { readonly of: readonly string[] }) {
  if (scopes.length === 0) return <span className="quiet">none</span>
  return (
    <ul className="tags">
      {scopes.map((scope) => (
        <li key={scope} className="badge">
          {scope === '*' ? 'everything' : scope}
        </li>
      ))}
    </ul>
  )
}

interface ScopeBoxesProps {
  readonly legend: string
  readonly scopes: readonly string[]
  /** Whether all are chosen at first. */
  readonly areChosen?: boolean
}

/** Boxes to choose scopes, in a form: its field `scopes` has each that is chosen. */
export const ScopeBoxes = ({ legend, scopes, areChosen = false }: ScopeBoxesProps) => (
  <fieldset>
    <legend>{legend}</legend>
    {scopes.map((scope) => (
      <label key={scope} className="check">
        <input type="checkbox" name="scopes" value={scope} defaultChecked={areChosen} />
        {scope}
      </label>
    ))}
  </fieldset>
)

/** Boxes for all that a key can do, in a form: everything, or actions on resources. */
export function GrantBoxes() {
  const [isAll, setIsAll] = useState(false)
  return (
    <fieldset>
      <legend>May do</legend>
      <label className="check">
        <input
          type="checkbox"
          name="scopes"
          value="*"
          checked={isAll}
          onChange={({ target }) => setIsAll(target.checked)}
        />
        everything
      </label>
      {!isAll &&
        RESOURCES.map((resource) => (
          <div key={resource} className="grants">
            <span>{resource}</span>
            {ACTIONS.map((action) => (
              <label key={action} className="check">
                <input
                  type="checkbox"
                  name="scopes"
                  value={`${resource}::${action}`}
                  aria-label={`${action} ${resource}`}
                />
                {action}
              </label>
            ))}
          </div>
        ))}
    </fieldset>
  )
}

/** The scopes that a form has chosen. */
export const scopesOf = (form: FormData): string[] => form.getAll('scopes').map(String)
