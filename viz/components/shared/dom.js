// Create elements with properties, attributes and children.

// createElement with properties, attributes (names with a dash, role) and children; text is set as text, never as HTML.
/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} properties
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
  const node = /** @type {any} */ (document.createElement(tag))
  for (const [name, value] of Object.entries(properties)) {
    if (name === "className" || name === "textContent" || name === "hidden" || name === "tabIndex") node[name] = value
    else node.setAttribute(name, value)
  }
  node.append(...children)
  return node
}

// The same for SVG; set its text with textContent.
/**
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Record<string, any>} attributes
 * @param {(Node | string)[]} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag)
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value)
  node.append(...children)
  return node
}

// The closest ancestor of the event's target, or the target itself, that matches the selector, if any.
/** @type {(event: Event, selector: string) => HTMLElement | null} */
export const closest = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null)

// Whether this element has the keyboard focus, even inside a shadow root.
/** @type {(node: Element) => boolean} */
export function hasFocus(node) {
  const root = /** @type {ShadowRoot} */ (node.getRootNode())
  return root.activeElement === node && (!root.host || document.activeElement === root.host)
}

// The focused element in the document or shadow root that contains `node`.
/** @type {(node: Node) => Element | null} */
export const focusedBeside = (node) => /** @type {ShadowRoot} */ (node.getRootNode()).activeElement
