// The Tile language. docs/reference/grammar.md says what the rules leave to the program that reads the tree:
// precedence of operators, which arguments a loop or a schedule item takes, and how brackets are repaired.
//
// Only words of declarations and statements are reserved. Words of options, spaces and schedules are names everywhere
// else: see `name`.
grammar Tile;

file: declaration* EOF;

// ---- declarations

declaration
  : attribute*
    ( importDeclaration | constDeclaration | enumDeclaration | kernelDeclaration | fnDeclaration | opDeclaration
    | exportDeclaration | scheduleDeclaration | testDeclaration | tuneDeclaration | meshDeclaration
    | staticAssert
    )
  ;

importDeclaration: 'import' (path | STRING) ('as' name)? ';';
constDeclaration: 'const' name (':' type)? '=' expression ';';
enumDeclaration: 'enum' name '{' (name (',' name)* ','?)? '}';
kernelDeclaration: 'export'? 'kernel' signature block;
fnDeclaration: 'reference'? 'fn' signature (block | '=' expression ';' | ';');
opDeclaration: 'export'? 'op' signature '=' expression ';';
exportDeclaration: 'export' exportedInstance ('|' exportedInstance)* ('as' name)? whereClause? ';';
exportedInstance: path genericArguments?;
scheduleDeclaration
  : 'schedule' path genericArguments? whereClause? 'wide'? ('for' targetName (',' targetName)*)? '{' scheduleItem* '}';
testDeclaration: 'test' name block;
tuneDeclaration
  : 'tune' path genericArguments? 'over' tuneAxis (',' tuneAxis)* givenClause? ('for' pattern 'in' expression)? ';';
meshDeclaration: 'mesh' name '[' argument (',' argument)* ','? ']' ';';
staticAssert: 'static_assert' arguments ';';

attribute: '@' (name | 'op') arguments?;

signature: name genericParameters? parameters ('->' type)? fnCondition? requiresClause?;
genericParameters: '[' (genericParameter (',' genericParameter)* ','?)? ']';
genericParameter: name (':' type)? ('=' expression)?;
parameters: '(' (parameter (',' parameter)* ','?)? ')';
parameter: parameterMode* name ':' type ('=' expression)?;
parameterMode: 'in' | 'out' | 'inout' | 'const' | 'alias';
fnCondition: 'if' expression;
requiresClause: 'requires' expression (',' expression)*;
whereClause: 'where' argument (',' argument)*;
givenClause: 'given' expression;
tuneAxis: name 'in' expression;
targetName: name | STRING;

// ---- schedules

scheduleItem
  : launchOption ';'
  | layoutItem
  | pipelineItem
  | roleItem
  | placeItem
  | requireItem
  ;
layoutItem: 'layout' nameList ':' layoutText ';';
layoutText: ~(';' | '{' | '}')+;
pipelineItem: 'pipeline' name ':' nameList (';' depthClause (',' clause)*)? ';';
depthClause: 'depth' expression;
roleItem: 'role' name (':' clause (',' clause)*)? '{' (name ';')* '}';
placeItem: 'place' nameList ':' clause (',' clause)* ';';
requireItem: 'require' nameList ';';
clause: name expression?;

// ---- types

type
  : space? path extents? '?'? distribution?
  | '(' type (',' type)* ','? ')'
  | 'fn' '(' (type (',' type)*)? ')' '->' type
  ;
space: 'shared' | 'fragment' | 'local' | 'workspace' | 'tensor_memory';
extents: '[' (expression (',' expression)* ','?)? strides? ']';
strides: ';' expression (',' expression)*;
distribution: 'sharded' '(' axisName (',' axisName)* ')' 'on' name | 'replicated' 'on' name;
axisName: name | '_';

// ---- statements

block: '{' statement* '}';

statement
  : attribute* (name ':')?
    ( letStatement | varStatement | ifStatement | forStatement | whileStatement | launchStatement | simtStatement
    | syncStatement | breakStatement | continueStatement | returnStatement | staticAssert | asmStatement | block
    | simpleStatement
    )
  ;

letStatement: 'let' pattern (':' type)? '=' expression ';';
varStatement: 'var' name (':' type)? ('=' expression)? ';';
ifStatement: 'if' expression block ('else' (ifStatement | block))?;
forStatement: 'for' pattern 'in' expression ('..' expression)? block;
whileStatement: 'while' expression block;
launchStatement: 'launch' '(' launchAxis (',' launchAxis)* ','? ')' launchOption* block;
launchAxis: name 'in' expression;
launchOption: 'threads' expression | 'cluster' expression | 'persistent' | 'raster' expression
  | 'split' expression;
simtStatement: 'simt' '(' name ')' block;
syncStatement: 'sync' ';';
breakStatement: 'break' ';';
continueStatement: 'continue' ';';
returnStatement: 'return' expression? ';';
asmStatement: 'asm' '(' STRING ',' STRING+ (',' asmOperand)* ','? ')' ';';
asmOperand: ('in' | 'out' | 'inout') arguments | argument;
simpleStatement: binaryExpression (assignmentOperator expression)? ';';
assignmentOperator: '=' | '+=' | '-=' | '*=' | '/=' | '%=' | '@=' | '&=' | '|=' | '^=' | '<<=' | '>>=';

pattern: patternName | '(' patternName (',' patternName)* ','? ')';
patternName: name | '_';

// ---- expressions: one flat rule; precedence is climbed over its children

// The choice with `?` is read so that one message can say how it is written.
expression: ifExpression | binaryExpression ('?' expression ':' expression)?;
ifExpression: 'if' expression '{' expression '}' 'else' ('{' expression '}' | ifExpression);
binaryExpression: operand (binaryOperator operand | 'as' name | 'is' name)*;
binaryOperator
  : '||' | '&&' | '==' | '!=' | '<' | '<=' | '>' | '>=' | '|' | '^' | '&' | '<<' | '>>' | '+' | '-' | '*' | '/' | '%'
  | '@'
  ;
operand: prefixOperator* primary postfix*;
prefixOperator: '-' | '!' | '~';
primary
  : name
  | INTEGER
  | FLOAT
  | 'inf' | 'nan' | 'true' | 'false'
  | STRING+
  | '(' expression (',' expression)* ','? ')'
  | '[' (expression (',' expression)* ','?)? ']'
  ;
postfix: '.' name | arguments | region;
arguments: '(' (argument (',' argument)* ','?)? ')';
genericArguments: '[' (argument (',' argument)* ','?)? ']';
argument: (name '=')? expression;
region: '[' (subscript (',' subscript)* ','?)? ']';
subscript
  : name '=' expression
  | expression (':' expression? | '+:' expression)?
  | ':' expression?
  | '_'
  ;

// ---- names

path: name ('.' name)*;
nameList: name (',' name)*;
name
  : ID
  | 'alias' | 'cluster' | 'depth' | 'fragment' | 'given' | 'layout' | 'local' | 'on' | 'over' | 'persistent' | 'pipeline'
  | 'place' | 'raster' | 'reference' | 'replicated' | 'require' | 'requires' | 'role' | 'sharded' | 'shared' | 'split'
  | 'tensor_memory' | 'threads' | 'where' | 'wide' | 'workspace'
  ;

// ---- tokens

// Reserved words.
IMPORT: 'import'; CONST: 'const'; ENUM: 'enum'; KERNEL: 'kernel'; FN: 'fn'; EXPORT: 'export'; OP: 'op';
SCHEDULE: 'schedule'; TEST: 'test'; TUNE: 'tune'; MESH: 'mesh'; STATIC_ASSERT: 'static_assert';
LET: 'let'; VAR: 'var'; IF: 'if'; ELSE: 'else'; FOR: 'for'; IN: 'in'; WHILE: 'while'; LAUNCH: 'launch'; SIMT: 'simt';
SYNC: 'sync'; BREAK: 'break'; CONTINUE: 'continue'; RETURN: 'return'; ASM: 'asm';
AS: 'as'; IS: 'is'; OUT: 'out'; INOUT: 'inout'; INFINITE: 'inf'; NOT_A_NUMBER: 'nan'; TRUE: 'true'; FALSE: 'false';
// Words of options, spaces and schedules, which are names elsewhere.
ALIAS: 'alias'; CLUSTER: 'cluster'; DEPTH: 'depth'; FRAGMENT: 'fragment'; GIVEN: 'given'; LAYOUT: 'layout';
LOCAL: 'local'; ON: 'on'; OVER: 'over'; PERSISTENT: 'persistent'; PIPELINE: 'pipeline'; PLACE: 'place';
RASTER: 'raster'; REFERENCE: 'reference'; REPLICATED: 'replicated'; REQUIRE: 'require'; REQUIRES: 'requires';
ROLE: 'role'; SHARDED: 'sharded'; SHARED: 'shared'; SPLIT: 'split'; TENSOR_MEMORY: 'tensor_memory'; THREADS: 'threads';
WHERE: 'where'; WIDE: 'wide'; WORKSPACE: 'workspace';

LEFT_PAREN: '('; RIGHT_PAREN: ')'; LEFT_BRACKET: '['; RIGHT_BRACKET: ']'; LEFT_BRACE: '{'; RIGHT_BRACE: '}';
SEMICOLON: ';'; COMMA: ','; COLON: ':'; DOT: '.'; DOT_DOT: '..'; PLUS_COLON: '+:'; ARROW: '->'; QUESTION: '?';
UNDERSCORE: '_'; ASSIGN: '='; ADD_ASSIGN: '+='; SUBTRACT_ASSIGN: '-='; MULTIPLY_ASSIGN: '*='; DIVIDE_ASSIGN: '/=';
REMAINDER_ASSIGN: '%='; MATRIX_ASSIGN: '@='; AND_ASSIGN: '&='; OR_ASSIGN: '|='; XOR_ASSIGN: '^=';
SHIFT_LEFT_ASSIGN: '<<='; SHIFT_RIGHT_ASSIGN: '>>='; OR_OR: '||'; AND_AND: '&&'; EQUAL: '=='; NOT_EQUAL: '!=';
LESS: '<'; LESS_EQUAL: '<='; GREATER: '>'; GREATER_EQUAL: '>='; OR: '|'; XOR: '^'; AND: '&'; SHIFT_LEFT: '<<';
SHIFT_RIGHT: '>>'; PLUS: '+'; MINUS: '-'; STAR: '*'; SLASH: '/'; PERCENT: '%'; AT: '@'; NOT: '!'; TILDE: '~';

FLOAT: DIGITS '.' DIGITS EXPONENT? | DIGITS EXPONENT;
INTEGER: DIGITS | '0' [xX] HEX+ ('_' HEX+)* | '0' [bB] [01]+ ('_' [01]+)*;
fragment DIGITS: [0-9]+ ('_' [0-9]+)*;
fragment HEX: [0-9a-fA-F];
fragment EXPONENT: [eE] [+-]? DIGITS;
ID: [a-zA-Z_] [a-zA-Z_0-9]*;
STRING: '"' (~["\\\r\n] | '\\' ~[\r\n])* '"';

DOC_COMMENT: '///' ~[\r\n]* -> channel(HIDDEN);
COMMENT: '//' ~[\r\n]* -> channel(HIDDEN);
SPACE: [ \t\r\n\f]+ -> skip;

// Mistakes that are tokens of their own, so that their message can say what is wrong.
BLOCK_COMMENT: '/*' .*? ('*/' | EOF) -> channel(HIDDEN);
OPEN_STRING: '"' (~["\\\r\n] | '\\' ~[\r\n])* '\\'? -> channel(HIDDEN);
BAD_NUMBER: (DIGITS '.')? [0-9] [0-9a-zA-Z_]*;
UNKNOWN: . -> channel(HIDDEN);
