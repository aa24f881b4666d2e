/**
 * TeX as MathML elements by Temml, from its tree and not its markup, so that no text is parsed as HTML. A text that is no TeX
 * gives nothing.
 *
 * The text is untrusted. Temml without trust makes no links, pictures, classes or styles of the writer's own; here an
 * element that is no MathML becomes its text.
 */
import temml, { type Options } from 'temml';
import { h, type VNode } from 'vue';
import 'temml/dist/Temml-Local.css';

type Child = VNode | string;

/** The library's tree. */
type Leaf = { readonly text: string };
type Element = {
  readonly type?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly classes?: readonly string[];
  readonly style?: Readonly<Record<string, string>>;
  readonly children: readonly (Element | Leaf)[];
};

const names = new Set(
  'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle merror mpadded mphantom menclose msub msup msubsup munder mover munderover mmultiscripts mprescripts none mtable mtr mtd'.split(
    ' ',
  ),
);

/** Its types miss the name that it has. */
const { __renderToMathMLTree: treeOf } = temml as unknown as {
  readonly __renderToMathMLTree: (tex: string, options: Options) => Element;
};

/** Sizes in em and in points; expansions of macros. */
const limits = { maxSize: [10, 100] as [number, number], maxExpand: 200 };

export const mathsElements = (tex: string, isDisplay: boolean): VNode | undefined => {
  try {
    const tree = treeOf(tex, {
      displayMode: isDisplay,
      throwOnError: true,
      wrap: isDisplay ? 'none' : 'tex',
      ...limits,
    });
    const [element] = elementsOf(tree);
    return typeof element === 'object' ? element : undefined;
  } catch {
    return undefined;
  }
};

const elementsOf = (node: Element | Leaf): readonly Child[] => {
  if ('text' in node) return [node.text];
  const children = node.children.flatMap(elementsOf);
  if (node.type === undefined || !names.has(node.type)) return children;
  const { classes = [], style = {} } = node;
  const attributes = {
    ...node.attributes,
    ...(classes.length > 0 && { class: classes.join(' ') }),
    ...(Object.keys(style).length > 0 && { style: { ...style } }),
  };
  return [h(node.type, attributes, children)];
};
